internal import COpenSSL

/// Refuses identity files that would keep a core busy. Each encrypted part states how often its passphrase is hashed.
///
/// In PBES1, PBES2 and the MAC, the count follows its salt (RFC 8018 §A, RFC 7292 §4): an OCTET STRING and then an INTEGER. The check looks for such pairs and
/// depends on nothing else in the formats.
enum PassphraseCost {
    /// 32 levels. A PKCS#12 file has about twelve; damaged bytes must not use up the stack.
    private static let maxDepth = 32

    /// - Throws: `badCertificate` above `TLSIdentityLimits.maxPassphraseRounds`.
    static func check(der: [UInt8]) throws(HTTP2Error) {
        guard highestCount(der[...], depth: 0) > TLSIdentityLimits.maxPassphraseRounds else { return }
        throw HTTP2Error(
            .badCertificate,
            isUnsent: true,
            underlying:
                "the file requires more than \(TLSIdentityLimits.maxPassphraseRounds) rounds of passphrase hashing"
        )
    }

    /// Checks each block of a PEM text.
    ///
    /// - Throws: `badCertificate`, `outOfMemory`.
    static func check(pem: [UInt8]) throws(HTTP2Error) {
        clearOpenSSLErrors()
        defer { clearOpenSSLErrors() }
        guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { throw HTTP2Error(.outOfMemory) }
        defer { unsafe BIO_free_all(bio) }
        for _ in 0..<TLSIdentityLimits.maxCertificates * 2 {
            guard let block = unsafe nextBlock(bio) else { return }
            try check(der: block)
        }
    }

    static func highestCount(_ bytes: ArraySlice<UInt8>, depth: Int) -> Int {
        var highest = 0
        var isBehindSalt = false
        var reader = DERReader(bytes)
        while let element = reader.next() {
            if isBehindSalt, element.tag == DERReader.integer { highest = max(highest, count(element.content)) }
            let isString = element.tag & ~0x20 == DERReader.octetString
            isBehindSalt = isString
            // Bags lie inside octet strings, so octet strings that look like a sequence are searched as well.
            let mayContainCounts = element.isConstructed || isString && element.content.first == DERReader.sequence
            if mayContainCounts, depth < maxDepth {
                highest = max(highest, highestCount(element.content, depth: depth + 1))
            }
        }
        return highest
    }

    /// The number, or the largest possible one if it is longer than four bytes. Negative ones are left for OpenSSL to refuse.
    private static func count(_ bytes: ArraySlice<UInt8>) -> Int {
        let digits = bytes.drop { $0 == 0 }
        return digits.count > 4 ? .max : digits.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func nextBlock(_ bio: OpaquePointer) -> [UInt8]? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        // OpenSSL allocates all three; they are freed below.
        guard unsafe PEM_read_bio(bio, &name, &header, &bytes, &count) == 1 else { return nil }
        defer {
            unsafe gateway_OPENSSL_free(name)
            unsafe gateway_OPENSSL_free(header)
            unsafe gateway_OPENSSL_clear_free(bytes, max(0, count))
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: max(0, count)))
    }
}
