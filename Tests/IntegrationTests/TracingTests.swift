import CommandSupport
import Foundation
import Model
import TestKit
import Testing

/// Traces at a collector in Python, which decodes them with `opentelemetry-proto` from PyPI.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let caller = "00f067aa0ba902b7"

    /// A running collector, and what it has printed.
    private struct Collector {
        let port: Int64
        let logFile: String

        var lines: [JSON] {
            get throws {
                try String(contentsOfFile: logFile, encoding: .utf8).split(separator: "\n").map {
                    try JSONParser.parse(Array($0.utf8))
                }
            }
        }

        var spans: [JSON] { get throws { try lines.filter { $0["span"] != nil } } }
    }

    /// Runs `body` with a collector. If the machine lacks Python or the package index, the test is skipped with the reason.
    private func withCollector(
        _ mode: String,
        header: [String] = [],
        _ body: (Collector) async throws -> Void
    ) async throws {
        // Only its directory is used.
        let place = try World()
        var skipped: String?
        do {
            let python = try await PythonClient(place, installing: "opentelemetry-proto==1.45.2")
            let log = place.material.path("collector.log")
            let process = try python.start(script: "trace_collector", [mode] + header, logFile: log)
            let port = try await first("the collector's port") {
                let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                return text.split(separator: "\n").first.flatMap { try? JSONParser.parse(Array($0.utf8)) }?["port"]?.int
            }
            do {
                try await body(Collector(port: port, logFile: log))
            } catch {
                Issue.record(error)
            }
            process.kill()
            _ = await process.stop()
        } catch let skip as PythonClient.Skip {
            skipped = skip.reason
        } catch {
            Issue.record(error)
        }
        await place.close()
        if let skipped { try World.lacks(skipped) }
    }

    private func post(
        _ world: World,
        _ path: String,
        _ body: JSON,
        headers: [String: String] = [:]
    ) async throws -> JSON {
        let answer = try await world.http.call("POST", path, body, headers: headers)
        try #require(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
        return try #require(answer.json)
    }

    /// Registers a device and a back end of RationalOwl.
    private func registered(_ world: World) async throws -> (device: JSON, sender: JSON) {
        let facts: JSON = [
            "sId": .string(world.service), "name": "n", "dt": 2, "tk": .string(String(repeating: "b1", count: 32)),
            "env": "prod", "bundleId": "com.example.umsdemo", "model": "iPhone15,2", "osVer": "18.1",
        ]
        let device = try #require(try await post(world, "/ro/v1/device/register", facts)["dRId"])
        let server: JSON = ["serviceId": .string(world.service), "registerName": "shop", "privateNetwork": 1]
        let sender = try #require(try await post(world, "/server/register/", server)["serverRegId"])
        let client: JSON = [
            "cId": 1, "r": 1, "t": 12, "sId": .string(world.service), "mcn": "shop", "rId": sender,
            "aId": .string(world.account), "ip": "203.0.113.10",
        ]
        _ = try await post(world, "/msgClient/register", client)
        return (device, sender)
    }

    // Issue 21, 9: one connected trace, from the vendor's call over the push to the receipt.
    @Test func aSampledPushIsOneTraceFromTheCallToTheReceipt() async throws {
        try await withCollector("take", header: ["X-Collector-Key", "secret-7"]) { collector in
            let secrets = try World()
            let file = secrets.material.path("headers")
            try "X-Collector-Key=secret-7\n".write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = [
                "--tracing-endpoint", "http://127.0.0.1:\(collector.port)", "--tracing-sample", "0",
                "--tracing-headers-file", file,
            ]
            try await World.with(serveArguments: arguments) { world in
                #expect(try await world.apply().status == 0)
                let (device, sender) = try await registered(world)
                let body = message(world, device, sender)
                let headers = [
                    "traceparent": "00-\(Self.trace)-\(Self.caller)-01", "tracestate": "congo=t61rcWkgMzE",
                    "X-Request-Id": "order-17",
                ]
                let sent = try await post(world, Self.sends, body, headers: headers)
                _ = try await post(world, Self.sends, body)
                try await eventually("the push is written") { try await pushed(world) == 2 }
                _ = try await post(world, "/ro/v1/noti/delivered", try delivered(world, device, sent))
                try await eventually("the three spans arrive", within: .seconds(30)) {
                    try collector.spans.count >= 3
                }
                let lines = try collector.lines
                #expect(lines.allSatisfy { $0["error"] == nil }, "\(lines)")
                let spans = try collector.spans
                #expect(spans.count == 3, "other calls are not sampled: \(spans)")
                #expect(Set(spans.map { $0["trace"]?.string }) == [Self.trace])
                #expect(Set(spans.map { $0["state"]?.string }) == ["congo=t61rcWkgMzE"])
                let call = try #require(spans.first { $0["kind"] == .int(2) })
                let push = try #require(spans.first { $0["name"] == "push" })
                let receipt = try #require(spans.first { $0["name"] == "receipt" })
                #expect(call["parent"]?.string == Self.caller)
                #expect(call["name"]?.string?.hasPrefix("rationalowl ") == true)
                #expect(push["parent"] == call["span"] && receipt["parent"] == call["span"])
                #expect(call["attributes"]?["request.id"] == "order-17")
                #expect(push["attributes"]?["push.outcome"] == "accepted")
                #expect(receipt["attributes"]?["push.receipt"] == "received")
                let text = try String(contentsOfFile: collector.logFile, encoding: .utf8)
                #expect(!text.contains(String(repeating: "b1", count: 32)), "no token in a trace")
                // They are counted when the answer of the collector has arrived.
                try await eventually("the spans are counted") {
                    try await world.metric("trace_spans_total", "end=\"exported\"") == 3
                }
                #expect(try !world.gatewayLog().contains("secret-7"))
            }
            await secrets.close()
        }
    }

    // A collector that takes calls and never answers.
    @Test func aSlowCollectorCostsCallersNothing() async throws {
        try await withCollector("hang") { collector in
            let arguments = ["--tracing-endpoint", "http://127.0.0.1:\(collector.port)", "--tracing-sample", "1"]
            try await World.with(serveArguments: arguments) { world in
                try await expectAnswers(world, calls: 3000)
                #expect(try await world.metric("trace_spans_total", "end=\"overflow\"") > 0, "drops are counted")
                try await expectPush(world)
            }
        }
    }

    @Test func anUnavailableCollectorCostsCallersNothing() async throws {
        let port = try ClosedPort()
        defer { port.release() }
        let arguments = ["--tracing-endpoint", "http://127.0.0.1:\(port.number)", "--tracing-sample", "1"]
        try await World.with(serveArguments: arguments) { world in
            try await expectAnswers(world, calls: 200)
            try await eventually("the lost spans are counted", within: .seconds(60)) {
                try await world.metric("trace_spans_total", "end=\"failed\"") > 0
            }
            #expect(try world.gatewayLog().contains("the collector of traces does not accept spans"))
            try await expectAnswers(world, calls: 200)
            try await expectPush(world)
        }
    }

    private static let sends = "/msgClient/msgClientSendMsgByDeviceId"

    private func message(_ world: World, _ device: JSON, _ sender: JSON) -> JSON {
        [
            "rId": sender, "aId": .string(world.account), "ip": "203.0.113.10",
            "msg": ["title": "t", "body": "b"], "dest": ["t": 2, "tg": [["dId": device]]],
        ]
    }

    /// The receipt of a message, by the answer to its call.
    private func delivered(_ world: World, _ device: JSON, _ sent: JSON) throws -> JSON {
        let message = try #require(sent["mId"]?.string, "\(JSONWriter.text(sent))")
        return ["sId": .string(world.service), "dRId": device, "mId": .string(message), "t": 1_731_999_999_123]
    }

    /// The number of accepted pushes.
    private func pushed(_ world: World) async throws -> Int {
        let count = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.delivery WHERE transport IS NOT NULL"
        )
        return Int(count) ?? -1
    }

    /// A call, its push and its receipt are traced, and none of them waits for the collector: a call to it ends after ten seconds.
    private func expectPush(_ world: World) async throws {
        try #require(try await world.apply().status == 0)
        let (device, sender) = try await registered(world)
        let begun = ContinuousClock.now
        let sent = try await post(world, Self.sends, message(world, device, sender))
        try await eventually("the push is written") { try await pushed(world) == 1 }
        _ = try await post(world, "/ro/v1/noti/delivered", try delivered(world, device, sent))
        let took = ContinuousClock.now - begun
        #expect(took < .seconds(10), "\(took)")
        try await eventually("the receipt is recorded") {
            try await world.value(
                "SELECT count(*)::text AS value FROM gateway.delivery WHERE received_at IS NOT NULL"
            ) == "1"
        }
    }

    private func expectAnswers(_ world: World, calls: Int) async throws {
        let http = world.http
        let times: [Duration] = try await concurrently(calls, tasks: 8) { _ in
            let begun = ContinuousClock.now
            let answer = try await http.call("GET", "/openapi.jsonx")
            #expect(answer.status == 404)
            return ContinuousClock.now - begun
        }
        let slowest = try #require(times.max())
        // A call to the collector ends after ten seconds: a caller that waits for one waits up to that long.
        #expect(slowest < .seconds(10), "\(slowest)")
    }
}
