internal import COpenSSL

/// Empties OpenSSL's error queue of this thread. Called before each call whose failure is going to be read, because the queue
/// keeps what older calls left.
func clearOpenSSLErrors() { ERR_clear_error() }

/// Takes everything out of OpenSSL's error queue of this thread, oldest first, as one line; nil if it is empty.
func drainOpenSSLErrors() -> String? { OpenSSLFailure.take().words }

/// What OpenSSL's error queue said.
struct OpenSSLFailure {
    /// Its words, oldest first, as one line; nil if the queue was empty.
    private(set) var words: String?
    /// Whether a cipher or a digest was wanted that no loaded provider has.
    private(set) var isMissingAlgorithm = false
    /// Whether a MAC or a padding did not come out right, which is how a wrong passphrase shows.
    private(set) var isWrongPassphrase = false
    /// The TLS alert that the peer sent, if that is what ended the session (RFC 8446 §6).
    private(set) var alert: Int32?

    /// Takes everything out of the queue of this thread.
    static func take() -> OpenSSLFailure {
        var failure = OpenSSLFailure()
        while true {
            let code = ERR_get_error()
            if code == 0 { return failure }
            failure.add(code)
        }
    }

    private mutating func add(_ code: UInt) {
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        words = words.map { "\($0); \(reason)" } ?? reason
        let (library, number) = (ERR_GET_LIB(code), ERR_GET_REASON(code))
        // The decoder, too, says "unsupported", but of anything that is no key.
        if library == ERR_LIB_EVP, reason == "unsupported" { isMissingAlgorithm = true }
        if library == ERR_LIB_PKCS12,
            number == PKCS12_R_MAC_VERIFY_FAILURE || number == PKCS12_R_PKCS12_CIPHERFINAL_ERROR
        {
            isWrongPassphrase = true
        }
        if library == ERR_LIB_SSL, number >= SSL_AD_REASON_OFFSET, number < SSL_AD_REASON_OFFSET + 256 {
            alert = number - SSL_AD_REASON_OFFSET
        }
    }
}
