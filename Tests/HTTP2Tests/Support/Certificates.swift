import Foundation

/// Runs a program to its end and gives what it printed.
func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = Pipe()
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ProgramFailed(program: program, arguments: arguments) }
    return String(decoding: data, as: UTF8.self)
}

struct ProgramFailed: Error {
    let program: String
    let arguments: [String]
}

/// A directory that goes away with its owner.
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

/// A certificate authority and a server certificate for `localhost` and 127.0.0.1, made now and valid for a day.
struct Certificates: Sendable {
    let directory: TemporaryDirectory

    var authorityPEM: [UInt8] { get throws { try directory.bytes("ca.pem") } }
    var keyFile: String { directory.file("server.key") }
    var certificateFile: String { directory.file("server.pem") }

    init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
        directory = try TemporaryDirectory()
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
                + ["-keyout", keyFile, "-out", certificateFile]
        )
    }
}
