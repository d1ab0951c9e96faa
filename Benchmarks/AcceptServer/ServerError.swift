import Glibc

/// Why the server, or one of its connections, ends.
enum ServerError: Error, CustomStringConvertible {
    /// The command line is invalid.
    case usage(String)
    /// A system call failed; the text is the call and its reason.
    case failed(String)
    /// The peer violated TLS or HTTP/2, or has disconnected.
    case connection(String)

    /// Creates an error from a failed call of the operating system.
    static func system(_ call: String) -> ServerError {
        .failed("\(call): \(unsafe String(cString: strerror(errno)))")
    }

    var description: String {
        switch self {
        case .usage(let text), .failed(let text), .connection(let text): text
        }
    }
}
