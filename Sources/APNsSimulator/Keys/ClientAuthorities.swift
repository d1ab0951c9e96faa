import Foundation
import SwiftASN1
import X509

/// The CAs whose client certificates the simulator believes.
package struct ClientAuthorities: Sendable {
    let certificates: [Certificate]

    /// The CAs of a PEM text with at least one certificate.
    ///
    /// - Throws: `SimulatorError` when it holds none, or one that cannot be read.
    package init(pem: String) throws(SimulatorError) {
        do {
            certificates = try PEMDocument.parseMultiple(pemString: pem)
                .filter { $0.discriminator == "CERTIFICATE" }
                .map { try Certificate(pemDocument: $0) }
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot read a client CA: \(error)")
        }
        guard !certificates.isEmpty else {
            throw SimulatorError(.certificateAuthority, "There is no certificate among the client CAs.")
        }
    }

    /// The CAs of a file.
    ///
    /// - Throws: `SimulatorError` when it cannot be read or holds none.
    package init(contentsOfFile path: String) throws(SimulatorError) {
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw SimulatorError(.certificateAuthority, "Cannot read the client CAs in \(path).")
        }
        try self.init(pem: pem)
    }

    private init(certificates: [Certificate]) { self.certificates = certificates }

    /// These CAs and those.
    func adding(_ others: ClientAuthorities) -> ClientAuthorities {
        ClientAuthorities(certificates: certificates + others.certificates)
    }
}
