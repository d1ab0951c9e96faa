internal import COpenSSL

/// Empties OpenSSL's error queue of this thread. Called before each call whose failure is going to be read, because the queue
/// keeps what older calls left.
func clearOpenSSLErrors() { ERR_clear_error() }

/// Takes everything out of OpenSSL's error queue of this thread, oldest first, as one line; nil if it is empty.
func drainOpenSSLErrors() -> String? {
    var lines: [String] = []
    while true {
        let code = ERR_get_error()
        if code == 0 { break }
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        lines.append(reason ?? "error \(code)")
    }
    return lines.isEmpty ? nil : lines.joined(separator: "; ")
}
