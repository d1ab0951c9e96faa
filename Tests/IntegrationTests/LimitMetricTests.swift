import CommandSupport
import Foundation
import Imports
import Model
import NIOHTTP1
import Testing

@testable import GatewayHTTP

/// Every limit of calls and every quota has a metric that grows when the limit refuses a call. The walks are exhaustive switches, so that a new limit needs a
/// case here.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LimitMetricTests {
    private static let arguments = [
        "--limits-identities", "0.001/1", "--limits-unknown", "0.001/1", "--limits-identity", "0.001/2",
        "--limits-user", "0.001/2", "--limits-phone", "0.001/2", "--limits-proofs-address", "3",
        "--limits-proofs-name", "1", "--limits-connections", "60", "--limits-bodies-bytes", "200000",
        "--limits-bodies-wait", "1",
    ]

    /// A name, a number and an address that no other step uses.
    private final class Fresh {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
        /// Not the address of the world's own clients, which is 127.0.0.1.
        func address() -> String {
            let number = next()
            return "127.3.\(number / 200).\(number % 200 + 1)"
        }
    }

    @Test func everyLimitOfCallsHasAMetric() async throws {
        try await World.with(serveArguments: Self.arguments) { world in
            _ = try await world.apply()
            try await world.applyLimited()
            let fresh = Fresh()
            // That of values needs calls that wait for the database (`BodyValueTests`).
            for limit in CallLimit.allCases where limit != .values {
                let before = try await world.metric("calls_limited_total", "limit=\"\(limit.rawValue)\"")
                try await Self.exceed(limit, world, fresh)
                try await eventually("the metric of \(limit.rawValue)", within: .seconds(20)) {
                    try await world.metric("calls_limited_total", "limit=\"\(limit.rawValue)\"") > before
                }
            }
        }
    }

    @Test func openConnectionsAreCounted() async throws {
        try await World.with { world in
            func open() async throws -> Double {
                try await world.metric("listener_connections_open", "listener=\"http\"")
            }
            #expect(try await world.metric("listener_connections_allowed", "listener=\"http\"") > 0)
            let before = try await open()
            let callers = (0..<5).map { _ in HTTPCaller(gateway: world.http.base) }
            for caller in callers { _ = try await caller.call("GET", "/v1/apps") }
            try await eventually("the connections are counted") { try await open() >= before + 5 }
            for caller in callers { await caller.close() }
            try await eventually("the closed ones are not counted") { try await open() <= before }
        }
    }

    // Else the connections of a full listener and of an empty one look like those of two that are half full.
    @Test func listenersOfOneKindAreCountedApart() async throws {
        try await World.with(serveArguments: ["--listen", "127.0.0.2:0"]) { world in
            func allowed(_ label: String) async throws -> Double {
                try await world.metric("listener_connections_allowed", label)
            }
            let one = try await allowed("address=\"127.0.0.2:0\"")
            #expect(one > 0)
            #expect(try await allowed("listener=\"http\"") == 2 * one)
        }
    }

    @Test func everyLimitWithoutASettingHasAMetric() async throws {
        try await World.with { world in
            _ = try await world.apply()
            try await world.applyLimited()
            // A slow body is cut off after 20 seconds, in which the other limits are reached.
            async let slow: Void = Self.expectMetric(of: .bodyTime, world)
            // That of upstreams needs one (`ProxyRuleTests`).
            for limit in FixedLimit.allCases where limit != .upstreamCalls && limit != .bodyTime {
                try await Self.expectMetric(of: limit, world)
            }
            try await slow
        }
    }

    private static func expectMetric(of limit: FixedLimit, _ world: World) async throws {
        let before = try await world.metric("calls_limited_total", "limit=\"\(limit.rawValue)\"")
        try await exceed(limit, world)
        try await eventually("the metric of \(limit.rawValue)", within: .seconds(20)) {
            try await world.metric("calls_limited_total", "limit=\"\(limit.rawValue)\"") > before
        }
    }

    @Test func everyQuotaHasAMetric() async throws {
        try await World.with { world in
            _ = try await world.apply()
            try await world.applyLimited()
            for quota in Quota.allCases {
                try await Self.exceed(quota, world)
                #expect(
                    try await world.metric("quota_refusals_total", "quota=\"\(quota.rawValue)\"") == 1,
                    "\(quota.rawValue)"
                )
            }
        }
    }

    // MARK: Limits of calls

    private static func token(_ number: Int) -> String { String(format: "%064x", 0xD0_0000 + number) }

    private static func shim(_ call: String, _ fields: JSONObject, service: String = "bank-service")
        -> LoopbackClient.Call
    {
        var body = fields
        body["sId"] = .string(service)
        return .json("/ro/v1/\(call)", .object(body))
    }

    private static func registration(_ number: Int, service: String = "bank-service") -> LoopbackClient.Call {
        shim("device/register", ["dt": 2, "tk": .string(token(number)), "env": "dev"], service: service)
    }

    private static func make(
        _ calls: [LoopbackClient.Call],
        _ world: World,
        _ address: String
    ) async throws -> [LoopbackClient.Answer] {
        try await LoopbackClient.from(address, to: world.http.base) { try await $0.make(calls) }
    }

    private static func exceed(_ limit: CallLimit, _ world: World, _ fresh: Fresh) async throws {
        let address = fresh.address()
        switch limit {
        case .identities: _ = try await make([registration(fresh.next()), registration(fresh.next())], world, address)
        case .unknown:
            let unknown = (0..<3).map { shim("device/state", ["dRId": .string("nobody\($0)"), "state": "active"]) }
            _ = try await make(unknown, world, address)
        case .identity:
            let registered = try await make([registration(fresh.next())], world, address)
            let device = try #require(registered.first?.json?["dRId"])
            let state = shim("device/state", ["dRId": device, "state": "background"])
            _ = try await make(Array(repeating: state, count: 4), world, address)
        case .user:
            for _ in 0..<4 { _ = try await make([user("one", fresh.next())], world, fresh.address()) }
        case .phone:
            for _ in 0..<4 { _ = try await make([phone("01055556666", fresh.next())], world, fresh.address()) }
        case .addressProofs:
            let wrong = (0..<12).map { number in
                LoopbackClient.Call(
                    method: .GET,
                    path: "/v1/apps",
                    headers: ["Authorization": "Bearer wrong-\(number)"],
                    body: ""
                )
            }
            _ = try await make(wrong, world, address)
        case .nameProofs:
            let basic = Data("mina:wrong".utf8).base64EncodedString()
            let call = LoopbackClient.Call(
                path: "/site/api/register",
                headers: ["Authorization": "Basic \(basic)"],
                body: ""
            )
            _ = try await make(Array(repeating: call, count: 3), world, address)
        case .connections:
            func refused() async throws -> Double {
                try await world.metric("calls_limited_total", "limit=\"connections\"")
            }
            let before = try await refused()
            // The gateway accepts connections after the system has.
            try await open(61, world, address) {
                try await eventually("a connection is refused", within: .seconds(20)) { try await refused() > before }
            }
        case .bodies: try await fill(world, fresh)
        case .values: break
        }
    }

    private static func user(_ name: String, _ number: Int) -> LoopbackClient.Call {
        .json(
            "/ipns/appRegist",
            [
                "APP_ID": "bank", "USER_CN": .string(name), "DEVICE_ID": .string("l\(number)"),
                "PUSH_TOKEN": .string(token(number)),
            ]
        )
    }

    private static func phone(_ phone: String, _ number: Int) -> LoopbackClient.Call {
        .json(
            "/pushApp/installApp",
            [
                "cId": 303, "aId": "bank-account", "dt": 2, "dRId": .string(String(format: "%032x", number)),
                "pn": .string(phone), "tk": .string(token(number)), "env": "prod",
            ]
        )
    }

    /// Opens connections, and keeps them open until `body` has ended.
    private static func open(
        _ count: Int,
        _ world: World,
        _ address: String,
        _ body: () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await LoopbackClient.from(address, to: world.http.base) { _ in
            try await open(count - 1, world, address, body)
        }
    }

    /// One caller holds the room for large bodies, and another one waits for it in vain.
    private static func fill(_ world: World, _ fresh: Fresh) async throws {
        let beginning = #"{"aId":"bank-account","x":""# + String(repeating: "a", count: 70_000)
        try await LoopbackClient.from(fresh.address(), to: world.http.base) { holder in
            try await holder.begin("/msgClient/sendMsg", statedBytes: 180_000, beginning)
            // Its room is taken when the gateway has read the beginning.
            try await eventually("a large body finds no room") {
                let body = #"{"aId":"bank-account","x":""# + String(repeating: "a", count: 150_000) + #""}"#
                let call = LoopbackClient.Call(
                    path: "/msgClient/sendMsg",
                    headers: ["Content-Type": "application/json"],
                    body: body
                )
                let answer = try await make([call], world, fresh.address()).first
                return answer?.status == 429 && answer?.json?["rc"] != nil
            }
        }
    }

    // MARK: Limits without a setting

    private static func exceed(_ limit: FixedLimit, _ world: World) async throws {
        switch limit {
        case .bodyBytes:
            let body = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
            #expect(try await world.http.post("/pushApp/installApp", json: body).status == 413)
        case .bodyValues:
            let list =
                Array("[".utf8) + Array(repeatElement(Array("1,".utf8), count: 300_000).joined()) + Array("1]".utf8)
            let answer = try await world.http.post("/msgClient/sendMsg", json: list)
            #expect(answer.status == 400, "\(answer.text)")
        case .bodyTime:
            let url = try #require(URL(string: world.http.base))
            _ = try await SlowClient.drip(
                host: "127.0.0.1",
                port: try #require(url.port),
                path: "/pushApp/installApp",
                statedBytes: 1000,
                every: .milliseconds(500),
                limit: .seconds(25)
            )
        case .streams: try await stream(EventStreamLimit.perTenant + 1, world)
        case .imports: try await importing(DeviceImports.concurrentLimit + 1, world)
        case .upstreamCalls: break
        }
    }

    /// Follows the events of one tenant with that many streams at once; the last one is refused.
    private static func stream(_ count: Int, _ world: World) async throws {
        let request =
            "GET /v1/events?follow=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(world.apiKey)\r\n\r\n"
        try await held(count, world, request) { text in text.contains(" 429 ") }
    }

    /// Begins imports whose bodies do not end; the last one is refused.
    private static func importing(_ count: Int, _ world: World) async throws {
        let request =
            "POST /v1/apps/shop/imports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(world.apiKey)\r\n"
            + "Content-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n{"
        try await held(count, world, request) { text in text.contains(" 429 ") }
    }

    /// Sends a request on that many connections, which stay open until the last one is answered.
    private static func held(
        _ count: Int,
        _ world: World,
        _ request: String,
        _ isRefused: @escaping @Sendable (String) -> Bool
    ) async throws {
        let address = try #require(world.http.base.split(separator: "/").last.flatMap { ListenAddress(String($0)) })
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask { try await ProxyClient.answer(address, request, until: isRefused) }
            }
            defer { group.cancelAll() }
            for try await found in group where found { return true }
            return false
        }
        #expect(refused)
    }

    // MARK: Quotas

    private static func exceed(_ quota: Quota, _ world: World) async throws {
        let (account, service) = ("\(quota.rawValue)-account", "\(quota.rawValue)-service")
        let key = ["Authorization": "Bearer \(world.apiKey)"]
        switch quota {
        case .identities, .registrationsPerDay:
            for number in 0..<2 {
                let call = registration(0x1000 * (quota == .identities ? 1 : 2) + number, service: service)
                let answer = try await make([call], world, "127.0.0.2").first
                #expect((answer?.status == 429) == (number == 1), "\(answer?.text ?? "")")
            }
        case .senders:
            for number in 0..<2 {
                let body: JSON = ["serviceId": .string(service), "registerName": .string("back end \(number)")]
                let answer = try await world.http.call("POST", "/server/register/", body, headers: key)
                #expect((answer.json?["serverRegId"] == nil) == (number == 1), "\(answer.text)")
            }
        case .groups:
            var caller = UPMCCaller(base: world.http.base)
            caller.application = "com.\(quota.rawValue)"
            caller.headers = key
            for number in 0..<2 {
                let answer = try await caller.call("rcv_register_usergroup", ["GROUPNAME": "g\(number)"])
                #expect((answer.code == "0000") == (number == 0), "\(answer.json)")
            }
        case .recipientsPerDay:
            let body: JSON = ["app": "bank", "to": ["users": ["a", "b"]], "title": "t", "body": "b"]
            let answer = try await world.http.call("POST", "/v1/messages", body, bearer: LimitedKeys.limited)
            #expect(answer.status == 429, "\(account) \(answer.text)")
        }
    }
}
