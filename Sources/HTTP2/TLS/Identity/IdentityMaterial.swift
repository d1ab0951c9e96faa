internal import COpenSSL
internal import Glibc

/// The C objects of a `TLSIdentity`: a key, the certificate that fits it, and its issuers, in OpenSSL's default context.
///
/// Created by `IdentityReader`; freed with the last reference.
// @unchecked: holds C handles. Protected by: nothing is changed after init, and OpenSSL counts references to keys and certificates atomically. Callers: any
// thread.
@safe
final class IdentityMaterial: @unchecked Sendable {
    /// All freed in `deinit`.
    private let key: OpaquePointer
    let certificates: [OpaquePointer]
    private let own: Int

    /// Takes ownership of a key and certificates, even if it throws.
    ///
    /// - Throws: `badCertificate` if no certificate fits the key.
    init(owning key: OpaquePointer, certificates: [OpaquePointer]) throws(HTTP2Error) {
        unsafe self.key = key
        unsafe self.certificates = certificates
        let index = unsafe certificates.firstIndex { unsafe X509_check_private_key($0, key) == 1 }
        // A certificate that does not fit leaves an error in the queue.
        clearOpenSSLErrors()
        own = index ?? 0
        guard index != nil else {
            let words = unsafe certificates.isEmpty ? "no certificate" : "no certificate that fits the private key"
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: words)
        }
    }

    deinit {
        unsafe EVP_PKEY_free(key)
        for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
    }

    /// Sets certificate, issuers and key of a context, which takes its own references.
    ///
    /// - Throws: `badCertificate`, such as for a key that is too short for this OpenSSL's security level.
    func install(in context: OpaquePointer) throws(HTTP2Error) {
        clearOpenSSLErrors()
        var isGood = unsafe SSL_CTX_use_certificate(context, certificates[own]) == 1
        isGood = unsafe isGood && SSL_CTX_use_PrivateKey(context, key) == 1
        for index in unsafe certificates.indices where index != own {
            isGood = unsafe isGood && gateway_SSL_CTX_add1_chain_cert(context, certificates[index]) == 1
        }
        guard isGood, unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: drainOpenSSLErrors())
        }
    }

    // MARK: Contents of the certificate

    /// Reads the certificate.
    ///
    /// - Throws: `badCertificate` if its dates cannot be read.
    func facts() throws(HTTP2Error) -> CertificateFacts {
        clearOpenSSLErrors()
        defer { clearOpenSSLErrors() }
        let certificate = unsafe certificates[own]
        guard let notBefore = unsafe seconds(X509_get0_notBefore(certificate)),
            let notAfter = unsafe seconds(X509_get0_notAfter(certificate))
        else { throw HTTP2Error(.badCertificate, isUnsent: true, underlying: "unreadable dates") }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe X509_digest(certificate, EVP_sha256(), &digest, &count) == 1 else {
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: drainOpenSSLErrors())
        }
        return CertificateFacts(
            notBeforeSeconds: notBefore,
            notAfterSeconds: notAfter,
            fingerprint: Array(digest.prefix(Int(count))),
            commonName: unsafe text(NID_commonName, in: X509_get_subject_name(certificate)),
            userID: unsafe text(NID_userId, in: X509_get_subject_name(certificate)),
            issuerCommonName: unsafe text(NID_commonName, in: X509_get_issuer_name(certificate)),
            pushScope: PushCertificateScope { unsafe extensionValue($0, of: certificate) }
        )
    }

    private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(unsafe timegm(&parts))
    }

    private func text(_ kind: Int32, in name: OpaquePointer?) -> String? {
        let index = unsafe X509_NAME_get_index_by_NID(name, kind, -1)
        guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        // OpenSSL allocates the text; it is freed below.
        let count = unsafe ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry))
        guard count > 0, let start = unsafe bytes else { return nil }
        defer { unsafe gateway_OPENSSL_free(start) }
        guard Int(count) <= TLSIdentityLimits.maxNameBytes else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    private func extensionValue(_ oid: String, of certificate: OpaquePointer) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(oid, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
        guard index >= 0,
            let data = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, index)),
            let start = unsafe ASN1_STRING_get0_data(data)
        else { return nil }
        let count = Int(unsafe ASN1_STRING_length(data))
        guard (0...TLSIdentityLimits.maxExtensionBytes).contains(count) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}
