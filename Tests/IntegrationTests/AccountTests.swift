import Foundation
import Glibc
import Model
import Testing

@testable import CommandSupport

/// Root starts the gateway, and the process gives up root's rights before it serves.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: RootOnly.canRun, "needs root, and programs that other users can reach")
)
struct AccountTests {
    /// An account of every Debian that owns nothing here.
    private static let account = "daemon"

    /// The lines of `/proc/<pid>/status` by their names.
    private func status(_ pid: Int32) throws -> [String: String] {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        return Dictionary(pairs) { $1 }
    }

    private func owner(_ path: String) throws -> String? {
        try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountName] as? String
    }

    @Test func rootsRightsAreGivenUpBeforeAnythingIsServed() async throws {
        let world = try World(serveArguments: ["--run-as", Self.account])
        // The address file of the tests lies in their own directory.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: world.directory)
        try await closing {
            await world.close()
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            let pid = try #require(world.gateway?.processID)
            let facts = try status(pid)
            let attributes = try FileManager.default.attributesOfItem(atPath: world.material.path("data"))
            let user = try #require(attributes[.ownerAccountID] as? Int)
            try #require(user != 0)
            #expect(facts["Uid"]?.split(separator: "\t").allSatisfy { $0 == "\(user)" } == true)
            // Bit 10 is CAP_NET_BIND_SERVICE.
            for set in ["CapEff", "CapPrm", "CapAmb", "CapBnd"] { #expect(facts[set] == "0000000000000400", "\(set)") }
            #expect(facts["NoNewPrivs"] == "1")
            #expect(try owner(world.material.path("data")) == Self.account)
            #expect(try status(try world.postgresPID())["Uid"]?.hasPrefix("\(user)\t") == true)

            // A command of root continues as the owner of the data directory.
            let applied = try await world.apply()
            #expect(applied.status == 0, "\(applied.log)")
            #expect(applied.log.contains("continues as \(Self.account)"))
            #expect(try await world.native("GET", "/v1/devices?user=nobody").status == 200)
        }
    }

    @Test func rootThatStaysRootIsLogged() async throws {
        try await World.with { world in
            let pid = try #require(world.gateway?.processID)
            try #require(try status(pid)["Uid"]?.hasPrefix("0\t") == true)
            #expect(try world.gatewayLog().contains("runs as root; name an account of its own with run.as"))
        }
    }

    @Test func anUnknownAccountIsReported() async throws {
        let world = try World()
        try await closing {
            await world.close()
        } after: {
            let ended = try await world.command(["serve", "--run-as", "no-such-account", "--listen", "127.0.0.1:0"])
            #expect(ended.status != 0 && ended.log.contains("no account no-such-account"), "\(ended.log)")
            #expect(!FileManager.default.fileExists(atPath: world.material.path("data")))
        }
    }
}

/// Whether root runs the tests, and every user can reach the programs.
private enum RootOnly {
    static var canRun: Bool {
        var path = ""
        let isReachable = World.programs.split(separator: "/").allSatisfy { part in
            path += "/\(part)"
            let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            return (mode ?? 0) & 0o001 != 0
        }
        return geteuid() == 0 && isReachable
    }
}
