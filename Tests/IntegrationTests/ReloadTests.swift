import Foundation
import Logging
import Model
import TestKit
import Testing

@testable import CommandSupport
@testable import EmbeddedPostgres
@testable import Gateway

/// SIGHUP, sent to a process.
@Suite(.timeLimit(.minutes(10))) struct ReloadTests {
    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The status of a call by HTTPS from a client that trusts only this certificate; nil if no connection could be made.
    private func status(_ world: World, trusting certificate: String) async throws -> Int? {
        let base = world.https.base.replacing("127.0.0.1", with: "localhost")
        let caller = HTTPCaller(gateway: base, trustRootsFile: certificate)
        let answer = try? await caller.call("GET", "/v1/apps", bearer: world.apiKey)
        await caller.close()
        return answer?.status
    }

    @Test func aRenewedCertificateIsUsedAtOnce() async throws {
        let world = try World()
        try await closing {
            await world.close()
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            let process = try #require(world.gateway)
            let former = world.material.path("former.pem")
            try text(world.material.path("gateway-cert.pem")).write(toFile: former, atomically: true, encoding: .utf8)
            try await eventually("the key is known") { try await status(world, trusting: former) == 200 }

            // Nothing has changed: only the signal has this line as its consequence.
            kill(process.processID, SIGHUP)
            try await eventually("the signal was noticed", within: .seconds(20)) {
                try world.gatewayLog().contains("TLS certificate unchanged")
            }
            let renewed = StageMaterial(directory: world.directory + "/renewed")
            try FileManager.default.createDirectory(atPath: renewed.directory, withIntermediateDirectories: true)
            try renewed.write()
            for name in ["gateway-cert.pem", "gateway-key.pem"] {
                let content = try text(renewed.path(name))
                try content.write(toFile: world.material.path(name), atomically: true, encoding: .utf8)
            }
            kill(process.processID, SIGHUP)
            try await eventually("the new certificate is used", every: .milliseconds(100)) {
                try await status(world, trusting: renewed.path("gateway-cert.pem")) == 200
            }
            #expect(try await status(world, trusting: former) == nil)
            #expect(process.isRunning)
            #expect(try world.gatewayLog().contains("provisioning read again"))
        }
    }

    // SIGHUP ends a process that does not expect it.
    @Test func aNodeWithoutHTTPSReadsItsProvisioningAgain() async throws {
        let world = try World()
        try await closing {
            await world.close()
        } after: {
            try await ClusterTemplate.shared.copy(into: world.material.path("data"))
            let log = world.material.path("plain.log")
            let addresses = world.material.path("plain.json")
            let node = try ChildProcess(
                "push-gateway serve",
                program: World.programs + "/push-gateway",
                arguments: [
                    "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--address-file", addresses,
                    "--data-dir", world.material.path("data"),
                ],
                logFile: log
            )
            _ = try await readAddressFile(addresses, of: node)
            kill(node.processID, SIGHUP)
            try await eventually("the provisioning was read again", within: .seconds(20)) {
                try text(log).contains("provisioning read again")
            }
            #expect(node.isRunning)
            #expect(await node.stop() == 0)
        }
    }

    @Test func theLogSaysWhenTheDatabaseDidNotAnswer() async throws {
        let directory = "\(ScratchFolder.root)/pgw-reload-" + SystemIdentifiers().randomHex(byteCount: 5)
        let cluster = try await EmbeddedCluster.start(directory: directory, logger: Logger(label: "test"))
        let world = try World(databaseURL: cluster.superuserConnectionString)
        try await closing {
            await world.close()
            try await cluster.stop()
            try FileManager.default.removeItem(atPath: directory)
        } after: {
            let migrated = try await world.command(["database", "migrate"])
            try #require(migrated.status == 0, "\(migrated.log)")
            try world.makeMasterKey()
            try await world.startGateway()
            let process = try #require(world.gateway)
            try await cluster.stop()
            kill(process.processID, SIGHUP)
            try await eventually("the signal was noticed", within: .seconds(60), every: .milliseconds(100)) {
                try world.gatewayLog().contains("provisioning not read: the database does not answer")
            }
            #expect(try !world.gatewayLog().contains("provisioning read again"))
            #expect(process.isRunning)
        }
    }
}
