import APNsSimulator
import Foundation
import ProgramSupport
import Testing

/// The executable as a process: flags, files, exit status, signals.
@Suite struct ExecutableTests {
    private static let program =
        Bundle.module.bundleURL.deletingLastPathComponent().appending(path: "apns-simulator").path

    @Test func helpEndsWith0AndWrongUsageWith2AndFailureWith1() async throws {
        let help = try await ChildProgram.run(Self.program, ["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("--accept-any-key"))
        for wrong in [["--bogus"], ["--port", "70000"], ["--mode", "lenient"], ["--keys", "a", "--accept-any-key"]] {
            #expect(try await ChildProgram.run(Self.program, wrong).status == 2, "\(wrong)")
        }
        #expect(try await ChildProgram.run(Self.program, ["--keys", "/nonexistent"]).status == 1)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func itWritesItsAddressesServesAndEndsWith0OnASignal(signal: Int32) async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let status = try await serve(folder) { addresses in
            let control = try #require(URL(string: "http://\(addresses["control"] ?? "")/_simulator/stats"))
            let stats = try await ChildProgram.run("/usr/bin/curl", ["-sf", control.absoluteString])
            #expect(stats.output.contains(#""mode":"validate""#))
        } signal: {
            signal
        }
        #expect(status == 0)
    }

    @Test func aKeptCAIsTheSameAfterARestart() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var certificates: [Data] = []
        for _ in 0..<2 {
            let status = try await serve(folder) { addresses in
                let port = (addresses["apns"] ?? "").split(separator: ":").last ?? ""
                let ca = folder.appending(path: "ca.pem")
                certificates.append(try Data(contentsOf: ca))
                let push = try await ChildProgram.run(
                    "/usr/bin/curl",
                    ["-s", "--http2", "--cacert", ca.path, "-d", "{}", "https://localhost:\(port)/3/device/ab"]
                )
                #expect(push.output == #"{"reason":"MissingProviderToken"}"#)
            } signal: {
                SIGTERM
            }
            #expect(status == 0)
        }
        #expect(certificates.count == 2)
        #expect(certificates.first == certificates.last)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "ca.key").path)
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test func aKeysFileIsReadWithKeysFromItsFolder() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = TestKey()
        try Data(key.publicPEM.utf8).write(to: folder.appending(path: "pub.pem"))
        let file = folder.appending(path: "keys.json")
        let entry = #"{"teamId":"ABCDE12345","keyId":"KEY1234567","publicKeyFile":"pub.pem","topics":["com.example"]}"#
        try Data("[\(entry)]".utf8).write(to: file)
        let registry = try KeyRegistry(contentsOfFile: file.path)
        #expect(registry.key("KEY1234567")?.topics == ["com.example"])
        for wrong in [
            "{}", "[\(entry),\(entry)]", #"[{"teamId":"A"}]"#, "[\(entry.replacing("topics", with: "topicz"))]",
        ] {
            try Data(wrong.utf8).write(to: file)
            #expect(throws: SimulatorError.self) { try KeyRegistry(contentsOfFile: file.path) }
        }
    }

    /// Starts the program in `folder`, waits for its address file, runs `body`, sends the signal and returns the exit
    /// status.
    private func serve(
        _ folder: URL,
        _ body: ([String: String]) async throws -> Void,
        signal: () -> Int32
    ) async throws -> Int32 {
        let addressFile = folder.appending(path: "address.json")
        try? FileManager.default.removeItem(at: addressFile)
        let arguments = [
            "--address-file", addressFile.path, "--ca-out", folder.appending(path: "ca.pem").path,
            "--ca-key", folder.appending(path: "ca.key").path,
        ]
        let program = try ChildProgram(Self.program, arguments)
        let addresses = try await read(addressFile, while: program)
        try await body(addresses)
        program.send(signal())
        return try await program.ending().status
    }

    /// Polls for the file, which appears complete or not at all. If the program ends instead, the test fails.
    private func read(_ file: URL, while program: ChildProgram) async throws -> [String: String] {
        while program.status == nil {
            if let data = try? Data(contentsOf: file) {
                return try JSONDecoder().decode([String: String].self, from: data)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        struct Ended: Error {}
        throw Ended()
    }
}
