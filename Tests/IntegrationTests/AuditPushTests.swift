import CommandSupport
import Foundation
import Logging
import Model
import NIOSSL
import TestKit
import Testing

@testable import Gateway
@testable import PostgresClient

/// The push of the audit to a collector on real sockets, and the refusal of administrative calls while it is behind.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AuditPushTests {
    private static func rows(_ world: World) async throws -> Int {
        let count = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.audit WHERE tenant_id = 'acme'"
        )
        return try #require(Int(count))
    }

    private static func makeKey(_ world: World, _ name: String) async throws {
        let made = try await world.command(["key", "create", "--tenant", "acme", "--name", name, "--scopes", "read"])
        try #require(made.status == 0, "\(made.log)")
    }

    @Test func everyRowArrivesInOrderAlsoAfterALongInterruption() async throws {
        let first = try await SyslogReceiver.tcp()
        let port = first.port
        try await World.with(serveArguments: ["--audit-syslog", "tcp://127.0.0.1:\(port)"]) { world in
            #expect(try await world.apply().status == 0)
            let count = try await Self.rows(world)
            try await eventually("the collector has all rows") { first.positions(of: "acme").count >= count }
            #expect(Array(first.positions(of: "acme").prefix(count)) == Array(1...count))
            #expect(
                first.messages.allSatisfy { $0.hasPrefix("<109>1 ") } && first.problems.isEmpty,
                "\(first.problems)"
            )
            #expect(first.messages.contains { $0.contains(#""subject":"key backend""#) })
            await first.close()

            // Without the collector, everything works, and the lag is seen.
            for number in 0..<3 { try await Self.makeKey(world, "while-\(number)") }
            #expect(try await world.native("GET", "/v1/devices").status == 200)
            let newest = try await Self.rows(world)
            try await eventually("the lag is measured") {
                try await world.metric("audit_copy_lag_rows", "copy=\"collector\"") >= 4
            }
            let second = try await SyslogReceiver.tcp(port: port)
            try await eventually("the rows of the interruption arrive") {
                Set(second.positions(of: "acme")).isSuperset(of: (count + 1)...newest)
            }
            try await eventually("nothing is behind") {
                try await world.metric("audit_copy_lag_rows", "copy=\"collector\"") == 0
            }
            let all = second.positions(of: "acme")
            #expect(all == all.sorted(), "in order: \(all)")
            await second.close()
        }
        await first.close()
    }

    // A collector that dies with what it has taken: the rows come again.
    @Test func rowsThatDiedWithAConnectionAreSentAgain() async throws {
        let receiver = try await SyslogReceiver.tcp(cuts: 2)
        try await World.with(serveArguments: ["--audit-syslog", "tcp://127.0.0.1:\(receiver.port)"]) { world in
            #expect(try await world.apply().status == 0)
            let count = try await Self.rows(world)
            try await eventually("all rows arrive") { receiver.positions(of: "acme").count >= count }
            #expect(Set(receiver.positions(of: "acme")) == Set(1...count))
            #expect(receiver.connections >= 3)
        }
        await receiver.close()
    }

    /// Runs a gateway with these arguments, and waits until the receiver has all rows of the tenant.
    private func expectRows(at receiver: SyslogReceiver, _ arguments: [String]) async throws {
        try await World.with(serveArguments: arguments) { world in
            #expect(try await world.apply().status == 0)
            let count = try await Self.rows(world)
            try await eventually("all rows arrive") { receiver.positions(of: "acme").count >= count }
            #expect(Array(receiver.positions(of: "acme").prefix(count)) == Array(1...count))
            #expect(receiver.problems.isEmpty, "\(receiver.problems)")
        }
        await receiver.close()
    }

    @Test func rowsArriveEncrypted() async throws {
        // Only its certificate is used.
        let other = try World()
        let (cert, key) = (other.material.path("gateway-cert.pem"), other.material.path("gateway-key.pem"))
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(cert).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        )
        let receiver = try await SyslogReceiver.tcp(tls: NIOSSLContext(configuration: server))
        try await expectRows(
            at: receiver,
            ["--audit-syslog", "tls://127.0.0.1:\(receiver.port)", "--audit-ca", cert]
        )
        // Without the authority, nothing is sent.
        let strict = try await SyslogReceiver.tcp(tls: NIOSSLContext(configuration: server))
        try await World.with(serveArguments: ["--audit-syslog", "tls://127.0.0.1:\(strict.port)"]) { world in
            #expect(try await world.apply().status == 0)
            try await eventually("the certificate is refused") {
                try world.gatewayLog().contains("the audit cannot be sent to audit.syslog")
            }
            #expect(strict.messages.isEmpty)
        }
        await strict.close()
        await other.close()
    }

    // Python receives, because its datagrams come from an unnamed socket, which NIO does not read.
    @Test func rowsArriveOnADatagramSocket() async throws {
        let python = "/usr/bin/python3"
        guard FileManager.default.isExecutableFile(atPath: python) else { return }
        let path = "\(ScratchFolder.root)/pgw-log-\(UInt32.random(in: 0 ... .max)).sock"
        let script = """
            import os, socket
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind('\(path)')
            os.chmod('\(path)', 0o666)
            while True: print(s.recv(65536).decode(), flush=True)
            """
        let receiver = try ChildProcess("log", program: python, arguments: ["-c", script], logFile: path + ".log")
        try await eventually("the socket exists") { FileManager.default.fileExists(atPath: path) }
        try await World.with(serveArguments: ["--audit-syslog", "unix:\(path)"]) { world in
            #expect(try await world.apply().status == 0)
            let count = try await Self.rows(world)
            func lines() throws -> [Substring] {
                try String(contentsOfFile: path + ".log", encoding: .utf8).split(separator: "\n")
            }
            try await eventually("all rows arrive") { try lines().count >= count }
            let positions = try lines().prefix(count).map { line in
                let row = try JSONParser.parse(Array(line.drop { $0 != "{" }.utf8))
                return row["position"]?.int
            }
            #expect(positions == (1...Int64(count)).map { $0 })
            #expect(try lines().allSatisfy { $0.hasPrefix("<109>1 ") })
        }
        receiver.kill()
        _ = await receiver.stop()
        for file in [path, path + ".log"] { try? FileManager.default.removeItem(atPath: file) }
    }

    @Test func administrativeCallsFailClosedWhileThePushIsBehind() async throws {
        let port = try ClosedPort()
        let syslog = "tcp://127.0.0.1:\(port.number)"
        let settings = ["--audit-syslog", syslog, "--audit-lag-seconds", "60"]
        try await World.with(serveArguments: settings) { world in
            #expect(try await world.apply().status == 0)
            try await eventually("the gate opens") { try await world.native("GET", "/v1/devices").status == 200 }
            // The rows become old.
            try await world.withDatabase { database in
                let admin = try await PostgresConnection.connect(
                    PostgresConfiguration(database.adminConnectionString),
                    logger: Logger(label: "test")
                )
                try await admin.script("UPDATE gateway.audit SET at = at - interval '10 minutes'")
                await admin.close()
            }
            let refused = try await first("the gate closes") {
                let answer = try await world.native("GET", "/v1/devices")
                return answer.status == 200 ? nil : answer
            }
            #expect(refused.status == 503 && refused.json?["code"] == "PG-2003", "\(refused.text)")
            let headers = ["X-Request-Id": "behind-17"]
            let erasure = try await world.http.call("DELETE", "/v1/users/kim", headers: headers, bearer: world.apiKey)
            #expect(erasure.status == 503 && erasure.json?["requestId"] == "behind-17", "\(erasure.text)")
            #expect(try world.gatewayLog().contains("behind-17"), "a failure leads to its log line too")
            // Deliveries, sends and devices go on.
            #expect(try await world.native("GET", "/v1/apps").status == 200)
            let device: JSON = [
                "app": "shop", "platform": "ios", "key": "k", "token": .string(String(repeating: "a", count: 64)),
            ]
            #expect(try await world.native("POST", "/v1/devices", device).status == 201)
            let sent = try await world.native(
                "POST",
                "/v1/messages",
                ["app": "shop", "to": ["keys": ["k"]], "body": "b"]
            )
            #expect(sent.status == 202, "\(sent.text)")
            let message = try #require(sent.json?["id"]?.string)
            #expect(try await world.native("POST", "/v1/messages/\(message)/cancel").status == 200)
            // Commands with the same settings too.
            let command = ["key", "create", "--tenant", "acme", "--name", "late", "--scopes", "read"]
            let environment = ["AUDIT_SYSLOG": syslog, "AUDIT_LAG_SECONDS": "60"]
            let key = try await world.command(command, environment: environment)
            #expect(key.status == 1 && key.log.contains("audit.syslog is"), "\(key.log)")

            port.release()
            let receiver = try await SyslogReceiver.tcp(port: port.number)
            try await eventually("the gate opens again") { try await world.native("GET", "/v1/devices").status == 200 }
            #expect(try await world.command(command, environment: environment).status == 0)
            await receiver.close()
        }
    }
}
