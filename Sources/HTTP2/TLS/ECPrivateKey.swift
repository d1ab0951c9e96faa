internal import COpenSSL

/// A P-256 private key that signs as ES256 (RFC 7518 §3.4): SHA-256, ECDSA, and the raw 64 bytes R‖S.
///
/// Created from the `.p8` file of a vendor. It never exposes the private part.
// @unchecked: holds a C handle. Protected by: nothing is changed after init; OpenSSL allows several threads to use one key at once (openssl-threads(7)), and
// each signature has its own context. Callers: any thread.
@safe
package final class ECPrivateKey: @unchecked Sendable {
    /// Half of a signature: 32 bytes for P-256.
    private static let numberBytes = 32

    /// Freed in `deinit`.
    private let handle: OpaquePointer

    /// Reads an unencrypted key in PEM, PKCS#8 (`PRIVATE KEY`) or SEC 1 (`EC PRIVATE KEY`).
    ///
    /// - Throws: `badKey` for anything else, including other curves.
    package init(pem: [UInt8]) throws(HTTP2Error) {
        guard let handle = unsafe readPrivateKey(pem) else {
            throw HTTP2Error(.badKey, underlying: drainOpenSSLErrors() ?? "no private key in the PEM text")
        }
        unsafe self.handle = handle
        guard let group = curveName, group == "prime256v1" else {
            throw HTTP2Error(.badKey, underlying: "not a P-256 key: \(curveName ?? "not an elliptic curve key")")
        }
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// Signs the bytes.
    ///
    /// - Throws: `signingFailed`.
    /// - Returns: R‖S, 64 bytes, each half padded on the left.
    package func sign(_ bytes: [UInt8]) throws(HTTP2Error) -> [UInt8] {
        clearOpenSSLErrors()
        guard let context = unsafe EVP_MD_CTX_new() else { throw HTTP2Error(.outOfMemory) }
        defer { unsafe EVP_MD_CTX_free(context) }
        // A DER signature over P-256 is at most 72 bytes.
        var der = [UInt8](repeating: 0, count: 128)
        var count = der.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
            unsafe EVP_DigestSign(context, &der, &count, bytes, bytes.count) == 1
        else { throw HTTP2Error(.signingFailed, underlying: drainOpenSSLErrors()) }
        guard let raw = ECPrivateKey.raw(der: Array(der.prefix(count))) else {
            throw HTTP2Error(.signingFailed, underlying: drainOpenSSLErrors())
        }
        return raw
    }

    /// The public key as PEM (`PUBLIC KEY`), which a verifier needs.
    ///
    /// - Throws: `badKey` if OpenSSL cannot write it.
    package func publicKeyPEM() throws(HTTP2Error) -> String {
        clearOpenSSLErrors()
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw HTTP2Error(.outOfMemory) }
        defer { unsafe BIO_free_all(bio) }
        guard unsafe PEM_write_bio_PUBKEY(bio, handle) == 1 else {
            throw HTTP2Error(.badKey, underlying: drainOpenSSLErrors())
        }
        var text = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(bio))
        let count = unsafe BIO_read(bio, &text, Int32(clamping: text.count))
        return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
    }

    // MARK: Private

    private var curveName: String? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1 else { return nil }
        clearOpenSSLErrors()
        return String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// JOSE requires the two numbers side by side; OpenSSL writes an ASN.1 sequence.
    private static func raw(der: [UInt8]) -> [UInt8]? {
        let signature = unsafe der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, buffer.count)
        }
        guard let signature = unsafe signature else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var r = [UInt8](repeating: 0, count: numberBytes)
        var s = r
        guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), &r, Int32(numberBytes)) == Int32(numberBytes),
            unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), &s, Int32(numberBytes)) == Int32(numberBytes)
        else { return nil }
        return r + s
    }
}
