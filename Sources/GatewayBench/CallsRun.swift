import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// The results of one call: medians of its turns.
struct CallsSample {
    var name: String
    var perSecond: Double
    /// Unit: milliseconds.
    var p99: Double
    var ratio: Double
    /// CPU time per request, of the gateway and of PostgreSQL.
    var gatewayMicroseconds: Double
    var postgresMicroseconds: Double
}

/// The turns of `bench calls`.
struct CallsRun {
    let stage: BenchStage
    let seconds: Int
    let connections: Int
    let devices: Int
    /// Prefixes of call names; empty: every call.
    let only: [String]
    let gatewayCore: Int
    let otherCore: Int

    private var wrk: WrkRun { WrkRun(stage: stage, connections: connections, core: otherCore) }

    /// The call to measure: wrk requests `path` with a body in which an unused number replaces `%d`.
    private struct Call {
        var name: String
        var path: String
        var contentType: String
        /// A Lua format with one or two `%d`.
        var body: String
        /// The query that counts the stored effects of this call.
        var count: String?
        /// The numbers start over after this many. A turn continues where the last one ended.
        var numbers: Int
        /// The number of devices to skip: a read device has also received, so that the two kinds of receipts use different devices.
        var offset = 0
        /// Repeats the previous calls without changes, as every app does at its start.
        var isRepeat = false
    }

    /// - Throws: `StageFailure` when a part does not start, an answer is not 200, or an answered write is missing.
    func measure(pairs: Int, hello program: String) async throws -> [CallsSample] {
        let server = try await startHello(program)
        return try await stage.during(server.process) { try await measure(pairs: pairs, helloPort: server.port) }
    }

    private func measure(pairs: Int, helloPort: Int64) async throws -> [CallsSample] {
        try await stage.bind("ipns: { appId: \(Self.application) }") { stage in
            let body: JSON = ["APP_ID": .string(Self.application), "DEVICE_ID": "nobody"]
            // 2003: the binding is known, the device is not.
            return try await stage.gateway.call("POST", "/ipns/getConfig", body).json?["RT"] == "2003"
        }
        let number = try await sendToEveryone()
        try wrk.pinPostgres()
        let calls = Self.calls(number: number, devices: devices).filter { call in
            only.isEmpty || only.contains { call.name.hasPrefix($0) }
        }
        guard !calls.isEmpty else { throw StageFailure("no call has the prefix \(only.joined(separator: ", "))") }
        let hello = Call(name: "hello", path: "/hello", contentType: "text/plain", body: "%d", numbers: 1 << 30)
        var next = [Int](repeating: 1, count: calls.count)
        var turns = [[(WrkTurn, Double)]](repeating: [], count: calls.count)
        // The first round is a warm-up.
        for pair in 0...pairs {
            let base = try await turn(hello, at: "http://127.0.0.1:\(helloPort)", from: 1, for: pair == 0 ? 1 : seconds)
            Console.error(String(format: "hello %.0f/s", base.perSecond))
            for (index, var call) in calls.enumerated() {
                if call.isRepeat, index > 0 {
                    call.numbers = max(1, next[index - 1] - connections)
                    next[index] = 1
                }
                let before = try await count(call)
                let turn = try await turn(
                    call,
                    at: stage.gateway.base,
                    from: next[index],
                    for: pair == 0 ? 1 : seconds
                )
                next[index] += turn.requests + connections
                if let before, let after = try await count(call), next[index] <= call.numbers {
                    guard after - before >= turn.requests else {
                        throw StageFailure("\(call.name): \(turn.requests) answered, \(after - before) written")
                    }
                }
                Console.error(
                    String(format: "%@ %.0f/s, p99 %.1f ms", call.name, turn.perSecond, turn.p99)
                        + (next[index] > call.numbers && !call.isRepeat ? " (numbers used up: repeats)" : "")
                )
                if pair > 0 { turns[index].append((turn, turn.perSecond / base.perSecond)) }
            }
        }
        return zip(calls, turns).map { call, turns in
            func median(_ value: (WrkTurn) -> Double) -> Double { BenchReport.median(turns.map { value($0.0) }) }
            return CallsSample(
                name: call.name,
                perSecond: median(\.perSecond),
                p99: median(\.p99),
                ratio: BenchReport.median(turns.map(\.1)),
                gatewayMicroseconds: median(\.gateway),
                postgresMicroseconds: median(\.postgres)
            )
        }
    }

    // MARK: The calls

    private static let application = "bench.mobile"

    private static func calls(number: String, devices: Int) -> [Call] {
        func body(_ fields: String) -> String { "{\"APP_ID\":\"\(application)\",\(fields)}" }
        // A new token, and a user for a device without one.
        let moved = body(
            "\"USER_CN\":\"U%d\",\"DEVICE_ID\":\"bench-%d\",\"PUSH_TOKEN\":\"c%063x\",\"PUSH_TYPE\":\"ios\",\"PUSH_YN\":\"Y\""
        )
        return [
            Call(
                name: "register (new)",
                path: "/ipns/appRegist",
                contentType: "application/json",
                body: body(
                    "\"USER_CN\":\"U%d\",\"DEVICE_ID\":\"new-%d\",\"PUSH_TOKEN\":\"b%063x\",\"PUSH_TYPE\":\"ios\",\"PUSH_YN\":\"Y\""
                ),
                count:
                    "SELECT count(*) AS number FROM gateway.identity WHERE tenant_id = $1 AND vendor = 'ipns' AND key LIKE 'new-%'",
                numbers: 1 << 30
            ),
            Call(
                name: "register (moved)",
                path: "/ipns/appRegist",
                contentType: "application/json",
                body: moved,
                count: nil,
                numbers: devices
            ),
            Call(
                name: "register (again)",
                path: "/ipns/appRegist",
                contentType: "application/json",
                body: moved,
                count: nil,
                numbers: devices,
                isRepeat: true
            ),
            Call(
                name: "received",
                path: "/ipns/recvReport",
                contentType: "application/json",
                body: body("\"DEVICE_ID\":\"bench-%d\",\"MSG_ID\":\"\(number)\""),
                count:
                    "SELECT count(*) AS number FROM gateway.delivery WHERE tenant_id = $1 AND received_at IS NOT NULL",
                numbers: devices / 2
            ),
            Call(
                name: "read",
                path: "/ipns/readReport",
                contentType: "application/json",
                body: body("\"DEVICE_ID\":\"bench-%d\",\"REQ_ID\":\"\(number)\""),
                count: "SELECT count(*) AS number FROM gateway.delivery WHERE tenant_id = $1 AND read_at IS NOT NULL",
                numbers: devices / 2,
                offset: devices / 2
            ),
        ]
    }

    private func count(_ call: Call) async throws -> Int? {
        guard let count = call.count else { return nil }
        return try await stage.database.engine.run(
            Statement(count, [.text(BenchStage.tenant.rawValue)]),
            tenant: nil,
            timeout: .seconds(60)
        ).only().int("number")
    }

    /// Creates the devices and sends them one message. Returns its number.
    private func sendToEveryone() async throws -> String {
        try await stage.makeAudience(devices, vendor: .ipns)
        let id = try await stage.send(
            ["app": .string(BenchStage.app.rawValue), "to": "everyone", "body": "hello"],
            as: stage.apiKey
        )
        try await TransactionalPhase.settle(stage)
        let statement = Statement(
            "SELECT ref FROM gateway.message_ref WHERE tenant_id = $1 AND message_id = $2::text::uuid AND vendor = 'ipns'",
            [.text(BenchStage.tenant.rawValue), .text(id)]
        )
        try await stage.psql("ANALYZE")
        return try await stage.database.engine.run(statement, tenant: nil).only().text("ref")
    }

    // MARK: Processes

    private func startHello(_ program: String) async throws -> (process: ChildProcess, port: Int64) {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw StageFailure("no program \(program); 'scripts/bench calls' builds it")
        }
        let file = stage.material.path("hello.json")
        let process = try ChildProcess(
            "hello-server",
            program: "/usr/bin/taskset",
            arguments: ["-c", "\(gatewayCore)", program],
            logFile: file
        )
        guard let port = try await readAddressFile(file, of: process)["port"]?.int else {
            _ = await process.stop()
            throw StageFailure("the hello-server did not report its port")
        }
        return (process, port)
    }

    private func turn(_ call: Call, at base: String, from first: Int, for seconds: Int) async throws -> WrkTurn {
        let post = WrkPost(
            path: call.path,
            contentType: call.contentType,
            body: call.body,
            numbers: call.numbers,
            offset: call.offset
        )
        return try await wrk.run(post.script(from: first), named: call.name, at: base, for: seconds)
    }
}
