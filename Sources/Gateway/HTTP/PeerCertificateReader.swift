import Crypto
package import Model
package import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// Reads the certificates that clients show to the HTTPS listeners.
package struct PeerCertificateReader: Sendable {
    package init() {}

    /// The certificate of a connection, which the listener has verified.
    ///
    /// - Returns: nil if the client showed none, or the connection is not TLS.
    package func certificate(of channel: any Channel) async -> PeerCertificate? {
        guard let shown = try? await channel.nioSSL_peerCertificate().get(), let bytes = try? shown.toDERBytes() else {
            return nil
        }
        return Self.certificate(der: bytes)
    }

    /// - Returns: nil if the bytes are not a certificate.
    static func certificate(der bytes: [UInt8]) -> PeerCertificate? {
        guard let certificate = try? Certificate(derEncoded: bytes) else { return nil }
        let alternatives = (try? certificate.extensions.subjectAlternativeNames) ?? nil
        var names = (alternatives ?? SubjectAlternativeNames([])).compactMap { name -> String? in
            switch name {
            case .dnsName(let host): host
            case .uniformResourceIdentifier(let uri): uri
            default: nil
            }
        }
        // RFC 6125 §6.4.4: the common name counts only without alternative names, which the authority has checked.
        if names.isEmpty {
            for part in certificate.subject {
                for attribute in part where attribute.type == .RDNAttributeType.commonName {
                    if let name = String(attribute.value) { names.append(name) }
                }
            }
        }
        let digest = SHA256.hash(data: bytes)
        return PeerCertificate(fingerprint: HexCoding.encode(Array(digest)), names: names)
    }
}
