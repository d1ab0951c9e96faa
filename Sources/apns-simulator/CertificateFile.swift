import Foundation

/// The file with the CA's certificate, for clients that trust it.
enum CertificateFile {
    /// Writes the file atomically, so that a client never reads a part of a certificate.
    static func write(_ pem: String, to path: String) throws {
        try Data(pem.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
