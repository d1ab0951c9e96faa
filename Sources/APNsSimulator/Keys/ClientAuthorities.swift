import Foundation
import SwiftASN1
import X509

/// The CAs whose client certificates the simulator trusts.
package struct ClientAuthorities: Sendable {
    let certificates: [Certificate]

    /// Reads the CAs of a PEM text, at least one certificate.
    ///
    /// - Throws: `SimulatorError` if it contains none, or one that cannot be read.
    package init(pem: String) throws(SimulatorError) {
        do {
            certificates = try PEMDocument.parseMultiple(pemString: pem)
                .filter { $0.discriminator == "CERTIFICATE" }
                .map { try Certificate(pemDocument: $0) }
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot read a client CA: \(error)")
        }
        guard !certificates.isEmpty else {
            throw SimulatorError(.certificateAuthority, "The client CAs contain no certificate.")
        }
    }

    /// Reads the CAs of a file.
    ///
    /// - Throws: `SimulatorError` if it cannot be read or contains none.
    package init(contentsOfFile path: String) throws(SimulatorError) {
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw SimulatorError(.certificateAuthority, "Cannot read the client CAs in \(path).")
        }
        try self.init(pem: pem)
    }

    private init(certificates: [Certificate]) { self.certificates = certificates }

    /// The union of both sets of CAs.
    func adding(_ others: ClientAuthorities) -> ClientAuthorities {
        ClientAuthorities(certificates: certificates + others.certificates)
    }
}
