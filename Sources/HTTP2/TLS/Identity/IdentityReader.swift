internal import COpenSSL

/// Reads identity files in a separate OpenSSL context, so that the old ciphers they may need are not available to anything else.
///
/// Key and certificates leave that context as DER and are read again in the default one, which TLS uses.
struct IdentityReader {
    /// The directory of OpenSSL's modules; nil for the system's directory.
    let modulesDirectory: String?

    /// Reads PEM; see `TLSIdentity`.
    func read(pem: [UInt8], privateKeyPEM: [UInt8], passphrase: String?) throws(HTTP2Error) -> IdentityMaterial {
        try checkInput(pem, passphrase)
        try checkInput(privateKeyPEM, passphrase)
        try PassphraseCost.check(pem: privateKeyPEM)
        var certificates: [[UInt8]] = []
        unsafe forEachCertificate(in: pem) { certificate in
            if let der = unsafe encode(certificate) { certificates.append(der) }
        }
        let context = try PrivateOpenSSL(modulesDirectory: modulesDirectory)
        let key = try context.run { () throws(HTTP2Error) in try privateKey(privateKeyPEM, passphrase) }
        return try decode(key, certificates)
    }

    /// Reads PKCS#12; see `TLSIdentity`.
    func read(pkcs12 bytes: [UInt8], passphrase: String?) throws(HTTP2Error) -> IdentityMaterial {
        try checkInput(bytes, passphrase)
        try PassphraseCost.check(der: bytes)
        let context = try PrivateOpenSSL(modulesDirectory: modulesDirectory)
        let (key, certificates) = try context.run { () throws(HTTP2Error) in try open(pkcs12: bytes, passphrase) }
        return try decode(key, certificates)
    }

    private func checkInput(_ bytes: [UInt8], _ passphrase: String?) throws(HTTP2Error) {
        guard bytes.count <= TLSIdentityLimits.maxFileBytes else {
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: "the file is too long")
        }
        let secret = passphrase?.utf8 ?? "".utf8
        guard secret.count <= TLSIdentityLimits.maxPassphraseBytes, !secret.contains(0) else {
            throw HTTP2Error(
                .badPassphrase,
                isUnsent: true,
                underlying: "the passphrase is too long or contains a zero byte"
            )
        }
    }

    // MARK: In the private context

    private func privateKey(_ pem: [UInt8], _ passphrase: String?) throws(HTTP2Error) -> SecretDER {
        guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { throw HTTP2Error(.outOfMemory) }
        defer { unsafe BIO_free_all(bio) }
        let request = PassphraseRequest(passphrase)
        let key = unsafe PEM_read_bio_PrivateKey(
            bio,
            nil,
            givePassphrase,
            Unmanaged.passUnretained(request).toOpaque()
        )
        guard let key = unsafe key else { throw keyFailure(request) }
        defer { unsafe EVP_PKEY_free(key) }
        return try unsafe SecretDER(of: key)
    }

    private func keyFailure(_ request: PassphraseRequest) -> HTTP2Error {
        let failure = OpenSSLFailure.take()
        guard request.wasAsked else {
            return HTTP2Error(.badKey, isUnsent: true, underlying: failure.words ?? "no private key in the file")
        }
        if failure.isMissingAlgorithm {
            return HTTP2Error(.legacyEncryption, isUnsent: true, underlying: failure.words)
        }
        let words = request.passphrase == nil ? "the key is encrypted and no passphrase was given" : failure.words
        return HTTP2Error(.badPassphrase, isUnsent: true, underlying: words)
    }

    private func open(pkcs12 bytes: [UInt8], _ passphrase: String?) throws(HTTP2Error) -> (SecretDER, [[UInt8]]) {
        guard let bio = unsafe BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else {
            throw HTTP2Error(.outOfMemory)
        }
        defer { unsafe BIO_free_all(bio) }
        guard let file = unsafe d2i_PKCS12_bio(bio, nil) else {
            let words = drainOpenSSLErrors() ?? "not a PKCS#12 file"
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: words)
        }
        defer { unsafe PKCS12_free(file) }
        var (key, own, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?) = (nil, nil, nil)
        // The results belong to the caller and are freed below.
        guard unsafe PKCS12_parse(file, passphrase ?? "", &key, &own, &others) == 1 else { throw fileFailure() }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(own)
            unsafe gateway_sk_X509_pop_free(others)
        }
        guard let key = unsafe key else {
            throw HTTP2Error(.badKey, isUnsent: true, underlying: "no private key in the file")
        }
        var certificates: [[UInt8]] = []
        if let own = unsafe own, let der = unsafe encode(own) { certificates.append(der) }
        for index in 0..<max(0, unsafe gateway_sk_X509_num(others)) {
            if let other = unsafe gateway_sk_X509_value(others, index), let der = unsafe encode(other) {
                certificates.append(der)
            }
        }
        return (try unsafe SecretDER(of: key), certificates)
    }

    private func fileFailure() -> HTTP2Error {
        let failure = OpenSSLFailure.take()
        if failure.isMissingAlgorithm {
            return HTTP2Error(.legacyEncryption, isUnsent: true, underlying: failure.words)
        }
        // OpenSSL reports a file without a MAC as one with a wrong MAC.
        let isDamaged = !failure.isWrongPassphrase || failure.words?.contains("mac absent") == true
        let code: HTTP2Error.Code = isDamaged ? .badCertificate : .badPassphrase
        return HTTP2Error(code, isUnsent: true, underlying: failure.words)
    }

    // MARK: In the default context

    private func decode(_ key: SecretDER, _ list: [[UInt8]]) throws(HTTP2Error) -> IdentityMaterial {
        guard list.count <= TLSIdentityLimits.maxCertificates else {
            throw HTTP2Error(.badCertificate, isUnsent: true, underlying: "too many certificates")
        }
        clearOpenSSLErrors()
        guard let handle = unsafe key.decode() else {
            throw HTTP2Error(.badKey, isUnsent: true, underlying: drainOpenSSLErrors())
        }
        var certificates: [OpaquePointer] = unsafe []
        for der in list {
            let certificate = unsafe der.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return unsafe d2i_X509(nil, &start, buffer.count)
            }
            if let certificate = unsafe certificate { unsafe certificates.append(certificate) }
        }
        return try unsafe IdentityMaterial(owning: handle, certificates: certificates)
    }
}

/// A certificate's DER; nil without memory.
private func encode(_ certificate: OpaquePointer) -> [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    // OpenSSL allocates; freed below.
    let count = unsafe i2d_X509(certificate, &bytes)
    defer { unsafe gateway_OPENSSL_free(bytes) }
    return count > 0 ? unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count))) : nil
}

/// The passphrase for a PEM reader, and whether the reader requested it.
private final class PassphraseRequest {
    let passphrase: String?
    var wasAsked = false

    init(_ passphrase: String?) { self.passphrase = passphrase }
}

/// OpenSSL's passphrase callback. Without a passphrase it returns -1, so that OpenSSL does not ask on the terminal.
private func givePassphrase(
    _ target: UnsafeMutablePointer<CChar>?,
    _ size: Int32,
    _: Int32,
    _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data = unsafe data, let target = unsafe target else { return -1 }
    let request = unsafe Unmanaged<PassphraseRequest>.fromOpaque(data).takeUnretainedValue()
    request.wasAsked = true
    guard let bytes = request.passphrase?.utf8, bytes.count <= Int(size) else { return -1 }
    for (index, byte) in bytes.enumerated() { unsafe target[index] = CChar(bitPattern: byte) }
    return Int32(bytes.count)
}
