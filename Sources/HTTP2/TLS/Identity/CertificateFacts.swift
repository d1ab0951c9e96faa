/// The contents of a certificate that a push gateway needs, as a value without C objects.
///
/// Created by `TLSIdentity`. Nothing in it is secret.
package struct CertificateFacts: Sendable, Hashable {
    /// The start of its validity. Unit: seconds since 1970, UTC.
    package let notBeforeSeconds: Int64
    /// The end of its validity. Unit: seconds since 1970, UTC.
    package let notAfterSeconds: Int64
    /// SHA-256 of the certificate's DER, 32 bytes. It identifies the certificate, for example in a pool's key.
    package let fingerprint: [UInt8]
    /// The common name (CN) of the subject.
    package let commonName: String?
    /// The user id (UID, 0.9.2342.19200300.100.1.1) of the subject: the app's bundle id, or an MDM topic (docs/contracts/apns.md#4).
    package let userID: String?
    /// The common name of the issuer.
    package let issuerCommonName: String?
    /// The pushes that Apple's extensions allow.
    package let pushScope: PushCertificateScope

    /// All topics that the certificate may push to: those of its extensions, otherwise only its subject's UID. Empty if it names none.
    ///
    /// `apns-topic` may be left out only if there is exactly one (docs/contracts/apns.md#4).
    package var topics: [String] {
        let listed = pushScope.topics + pushScope.voipTopics.filter { !pushScope.topics.contains($0) }
        return listed.isEmpty ? userID.map { [$0] } ?? [] : listed
    }

    /// Whole days from a time (seconds since 1970) until the validity ends, rounded down; negative after its end.
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
