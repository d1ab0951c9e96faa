import Foundation
import NIOConcurrencyHelpers
import ProgramSupport

/// Runs a program until it ends and returns its output.
func run(_ program: String, _ arguments: [String]) throws -> String {
    let ending = try ChildProgram(program, arguments).waitUntilEnded()
    guard ending.status == 0 else {
        throw ProgramFailed(program: program, arguments: arguments, errors: ending.errors)
    }
    return ending.output
}

struct ProgramFailed: Error {
    let program: String
    let arguments: [String]
    let errors: String
}

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("http2-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: file(name)))) }

    func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: file(name))) }
}

/// A certificate authority and a server certificate for `localhost` and 127.0.0.1, created now and valid for a day.
struct Certificates: Sendable {
    let directory: TemporaryDirectory
    private static let made = MadeFiles()

    var authorityPEM: [UInt8] { get throws { try directory.bytes("ca.pem") } }
    var keyFile: String { directory.file("server.key") }
    var certificateFile: String { directory.file("server.pem") }

    /// - Parameters:
    ///   - names: the names in the certificate.
    ///   - isNew: whether it has its own authority. Otherwise all tests with the same names share one, which saves processes.
    /// - Throws: if `openssl` fails.
    init(names: String = "DNS:localhost,IP:127.0.0.1", isNew: Bool = false) throws {
        let files = ["ca.pem", "server.key", "server.pem"]
        directory = try Self.made.directory(of: files, key: isNew ? nil : names) { directory in
            let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            _ = try run(
                "/usr/bin/openssl",
                ["req", "-x509", "-days", "1", "-subj", "/CN=Test CA", "-addext", "basicConstraints=critical,CA:TRUE"]
                    + curve + ["-keyout", directory.file("ca.key"), "-out", directory.file("ca.pem")]
            )
            _ = try run(
                "/usr/bin/openssl",
                ["req", "-x509", "-days", "1", "-subj", "/CN=server", "-addext", "subjectAltName=\(names)"]
                    + ["-addext", "basicConstraints=critical,CA:FALSE"]
                    + ["-CA", directory.file("ca.pem"), "-CAkey", directory.file("ca.key")] + curve
                    + ["-keyout", directory.file("server.key"), "-out", directory.file("server.pem")]
            )
        }
    }
}

/// Files that a process creates once and each test gets as a copy. Otherwise many concurrent tests would wait for
/// `openssl`.
final class MadeFiles: Sendable {
    private let made = NIOLockedValueBox<[String: [String: [UInt8]]]>([:])

    /// A directory with these files: copies of those that were created under the same key, or new ones.
    func directory(
        of files: [String],
        key: String?,
        _ make: (TemporaryDirectory) throws -> Void
    ) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        if let key, let known = made.withLockedValue({ $0[key] }) {
            for (name, bytes) in known { try directory.write(name, bytes) }
            return directory
        }
        try make(directory)
        let contents = try Dictionary(uniqueKeysWithValues: files.map { ($0, try directory.bytes($0)) })
        if let key { made.withLockedValue { $0[key] = contents } }
        return directory
    }
}
