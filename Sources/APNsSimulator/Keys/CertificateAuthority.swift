import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate authority of the simulator, so that clients need not switch certificate verification off.
///
/// It is created in memory at each start, or stored in a file, so that clients that trust it still do after a restart.
package struct CertificateAuthority: Sendable {
    /// The CA's certificate in PEM: the trust root for clients.
    package let certificatePEM: String

    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// One year. The CA is valid for ten years; the server's certificate is created at every start.
    private static let year: TimeInterval = 365 * 86_400

    /// Creates a new CA.
    ///
    /// - Throws: `SimulatorError` if a certificate cannot be created.
    package init() throws(SimulatorError) {
        do {
            let key = P256.Signing.PrivateKey()
            let publicKey = Certificate.PublicKey(key.publicKey)
            let name = try DistinguishedName {
                OrganizationName("APNs simulator")
                CommonName(
                    "APNs simulator CA \(key.publicKey.x963Representation.suffix(4).map { String($0, radix: 16) }.joined())"
                )
            }
            let certificate = try Certificate(
                version: .v3,
                serialNumber: .init(),
                publicKey: publicKey,
                notValidBefore: Date() - 86_400,
                notValidAfter: Date() + 10 * Self.year,
                issuer: name,
                subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    SubjectKeyIdentifier(hash: publicKey)
                },
                issuerPrivateKey: .init(key)
            )
            try self.init(certificate: certificate, key: key)
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot make a CA: \(error)")
        }
    }

    /// Reads the CA that an earlier run stored in `path`, or creates one and stores it there (mode 0600, because it contains the private key).
    ///
    /// - Throws: `SimulatorError` if the file has another content or cannot be written.
    package init(keptIn path: String) throws(SimulatorError) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            try self.init()
            try keep(in: path)
            return
        }
        do {
            let documents = try PEMDocument.parseMultiple(pemString: text)
            guard let keyPEM = documents.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }),
                let certificatePEM = documents.first(where: { $0.discriminator == "CERTIFICATE" })
            else { throw SimulatorError(.certificateAuthority, "it does not contain a private key and a certificate") }
            try self.init(
                certificate: Certificate(pemDocument: certificatePEM),
                key: P256.Signing.PrivateKey(pemRepresentation: keyPEM.pemString)
            )
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot use the CA in \(path): \(error)")
        }
    }

    private init(certificate: Certificate, key: P256.Signing.PrivateKey) throws {
        self.certificate = certificate
        self.key = key
        certificatePEM = try certificate.serializeAsPEM().pemString + "\n"
    }

    /// Creates a server certificate for `localhost`, the loopback addresses and `extraHost`, valid for this number of days, and its private key, both in PEM.
    func makeServerIdentity(extraHost: String, days: Int) throws -> (certificatePEM: String, keyPEM: String) {
        let serverKey = P256.Signing.PrivateKey()
        let publicKey = Certificate.PublicKey(serverKey.publicKey)
        let certificate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: publicKey,
            notValidBefore: Date() + Double(min(days, 0) - 1) * 86_400,
            notValidAfter: Date() + Double(days) * 86_400,
            issuer: self.certificate.subject,
            subject: DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(Self.serverNames(extraHost: extraHost))
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey)).keyIdentifier
                )
                SubjectKeyIdentifier(hash: publicKey)
            },
            issuerPrivateKey: .init(key)
        )
        return (try certificate.serializeAsPEM().pemString, serverKey.pemRepresentation)
    }

    private static func serverNames(extraHost: String) -> [GeneralName] {
        var loopback6 = [UInt8](repeating: 0, count: 16)
        loopback6[15] = 1
        var names: [GeneralName] = [
            .dnsName("localhost"),
            .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: loopback6[...])),
        ]
        let octets = extraHost.split(separator: ".").compactMap { UInt8($0) }
        if octets.count == 4 {
            names.append(.ipAddress(ASN1OctetString(contentBytes: octets[...])))
        } else if !extraHost.contains(":") {
            names.append(.dnsName(extraHost))
        }
        return names
    }

    private func keep(in path: String) throws(SimulatorError) {
        let text = key.pemRepresentation + "\n" + certificatePEM
        let isWritten = FileManager.default.createFile(
            atPath: path,
            contents: Data(text.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard isWritten else {
            throw SimulatorError(.certificateAuthority, "Cannot write the CA's key to \(path).")
        }
    }
}
