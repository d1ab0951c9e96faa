internal import COpenSSL

/// A separate OpenSSL library context with the providers `default` and, if it is installed, `legacy`.
///
/// Created for one file and freed after it, so that RC2-40 and similar ciphers are available only for that file (docs/contracts/apns.md#4).
@safe
final class PrivateOpenSSL {
    /// All freed in `deinit`, the providers first.
    private let context: OpaquePointer
    private let standard: OpaquePointer?
    private let legacy: OpaquePointer?

    /// - Parameter modulesDirectory: the directory with `legacy.so`; nil for the system's directory.
    /// - Throws: `outOfMemory`, and `system` if not even the default provider loads.
    init(modulesDirectory: String?) throws(HTTP2Error) {
        clearOpenSSLErrors()
        guard let context = unsafe OSSL_LIB_CTX_new() else { throw HTTP2Error(.outOfMemory, isUnsent: true) }
        unsafe self.context = context
        if let modulesDirectory { _ = unsafe OSSL_PROVIDER_set_default_search_path(context, modulesDirectory) }
        unsafe standard = OSSL_PROVIDER_load(context, "default")
        unsafe legacy = OSSL_PROVIDER_load(context, "legacy")
        guard unsafe standard != nil else {
            throw HTTP2Error(.system, isUnsent: true, underlying: drainOpenSSLErrors() ?? "OpenSSL's default provider")
        }
        // A missing legacy module is not an error at this point: most files do not need it.
        clearOpenSSLErrors()
    }

    deinit {
        if let legacy = unsafe legacy { unsafe OSSL_PROVIDER_unload(legacy) }
        if let standard = unsafe standard { unsafe OSSL_PROVIDER_unload(standard) }
        unsafe OSSL_LIB_CTX_free(context)
        clearOpenSSLErrors()
    }

    /// Runs the body with this context as the thread's default. Objects of the context must not leave the body, only bytes.
    func run<Result>(_ body: () throws(HTTP2Error) -> Result) throws(HTTP2Error) -> Result {
        let before = unsafe OSSL_LIB_CTX_set0_default(context)
        defer { _ = unsafe OSSL_LIB_CTX_set0_default(before) }
        return try body()
    }
}

/// A private key as DER, in memory that is wiped when it is freed.
@safe
final class SecretDER {
    /// Allocated by OpenSSL; wiped and freed in `deinit`.
    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int

    /// Encodes a key.
    ///
    /// - Throws: `badKey` if OpenSSL cannot encode it.
    init(of key: OpaquePointer) throws(HTTP2Error) {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PrivateKey(key, &bytes)
        guard count > 0, let bytes = unsafe bytes else {
            throw HTTP2Error(.badKey, isUnsent: true, underlying: drainOpenSSLErrors())
        }
        unsafe self.bytes = bytes
        self.count = Int(count)
    }

    deinit { unsafe gateway_OPENSSL_clear_free(bytes, count) }

    /// The key in the thread's OpenSSL context, owned by the caller; nil if OpenSSL cannot read it.
    func decode() -> OpaquePointer? {
        var start: UnsafePointer<UInt8>? = unsafe UnsafePointer(bytes)
        return unsafe d2i_AutoPrivateKey(nil, &start, count)
    }
}
