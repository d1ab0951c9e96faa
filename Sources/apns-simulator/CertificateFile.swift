import Foundation

/// The CA's certificate on disk, for clients to trust.
enum CertificateFile {
    /// Writes it in one step, so that a client never reads half a certificate.
    static func write(_ pem: String, to path: String) throws {
        try Data(pem.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
