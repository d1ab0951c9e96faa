internal import COpenSSL

/// Empties this thread's OpenSSL error queue. It is called before each call whose failure will be read, because the queue keeps the errors of earlier calls.
func clearOpenSSLErrors() { ERR_clear_error() }

/// Takes all errors out of this thread's OpenSSL error queue, oldest first, as one line; nil if it is empty.
func drainOpenSSLErrors() -> String? { OpenSSLFailure.take().words }

/// The contents of OpenSSL's error queue.
struct OpenSSLFailure {
    /// The error texts, oldest first, as one line; nil if the queue was empty.
    private(set) var words: String?
    /// Whether no loaded provider offers a required cipher or digest.
    private(set) var isMissingAlgorithm = false
    /// Whether a MAC or padding did not match, which indicates a wrong passphrase.
    private(set) var isWrongPassphrase = false
    /// The TLS alert from the peer, if that ended the session (RFC 8446 §6).
    private(set) var alert: Int32?

    /// Takes all errors out of this thread's queue.
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
        // The decoder reports "unsupported" as well, namely for any input that is not a key.
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
