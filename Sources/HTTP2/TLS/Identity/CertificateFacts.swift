/// What a certificate says of itself, as far as a push gateway asks. A value without C behind it.
///
/// Made by `TLSIdentity`. Nothing in it is secret.
package struct CertificateFacts: Sendable, Hashable {
    /// From when it is valid. Unit: seconds since 1970, UTC.
    package let notBeforeSeconds: Int64
    /// Until when it is valid. Unit: seconds since 1970, UTC.
    package let notAfterSeconds: Int64
    /// SHA-256 of the certificate's DER, 32 bytes: names the certificate, such as in a pool's key.
    package let fingerprint: [UInt8]
    /// The common name (CN) of the subject.
    package let commonName: String?
    /// The user id (UID, 0.9.2342.19200300.100.1.1) of the subject: the app's bundle id, or an MDM topic (docs/contracts/apns.md#4).
    package let userID: String?
    /// The common name of the issuer.
    package let issuerCommonName: String?
    /// What Apple's extensions allow it to push.
    package let pushScope: PushCertificateScope

    /// Every topic it may push to: those of its extensions, else its subject's UID alone. Empty if it names none.
    ///
    /// `apns-topic` may be left out only if this is a single one (docs/contracts/apns.md#4).
    package var topics: [String] {
        let listed = pushScope.topics + pushScope.voipTopics.filter { !pushScope.topics.contains($0) }
        return listed.isEmpty ? userID.map { [$0] } ?? [] : listed
    }

    /// Whole days from a moment (seconds since 1970) until it ends, rounded down; negative once it has ended.
    package func daysLeft(at nowSeconds: Int64) -> Int64 {
        let (left, hasOverflown) = notAfterSeconds.subtractingReportingOverflow(nowSeconds)
        guard !hasOverflown else { return notAfterSeconds < nowSeconds ? .min : .max }
        return left >= 0 ? left / 86_400 : (left + 1) / 86_400 - 1
    }
}

extension CertificateFacts: CustomStringConvertible {
    /// The subject's name and the first bytes of the fingerprint.
    package var description: String {
        let name = commonName ?? userID ?? "unnamed"
        return "\(name), SHA-256 \(HexText.text(fingerprint.prefix(6)))…"
    }
}

/// Bytes as lower-case hexadecimal text.
enum HexText {
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
