import CommandSupport
import Foundation
import Model
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import GatewayHTTP

/// The limits of calls over real processes (H3). The tests play a trusted proxy, so that each call may have an address of its own.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LimitTests {
    private static let proxy = ["--trusted-proxies", "127.0.0.1"]

    private static func on(_ arguments: [String], _ body: (World) async throws -> Void) async throws {
        try await World.with(serveArguments: proxy + arguments) { world in
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            // An address of its own, so that the wait uses up nothing.
            try await eventually("the binding is served") {
                try await register(world, UInt64.max, from: "192.0.2.1").json?["rc"] == 1
            }
            try await body(world)
        }
    }

    private static func token(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private static func register(_ world: World, _ number: UInt64, from address: String) async throws
        -> HTTPCaller.Answer
    {
        try await world.http.call(
            "POST",
            "/ro/v1/device/register",
            ["sId": .string(world.service), "dt": 2, "tk": .string(token(number)), "env": "dev"],
            headers: ["X-Forwarded-For": address]
        )
    }

    // The attack of the audit, with the defaults: thousands of registrations from one address.
    @Test func oneAddressCannotRegisterThousandsOfDevices() async throws {
        try await Self.on(["--limits-calls"]) { world in
            // One connection per registration of a round: fewer than an address may have.
            let start = ContinuousClock.now
            var registered = 0
            var limited: [HTTPCaller.Answer] = []
            for round in 0..<40 {
                let answers = try await withThrowingTaskGroup(of: HTTPCaller.Answer.self) { group in
                    for number in 0..<50 {
                        group.addTask { [http = world.http, service = world.service] in
                            try await http.call(
                                "POST",
                                "/ro/v1/device/register",
                                [
                                    "sId": .string(service), "dt": 2,
                                    "tk": .string(Self.token(UInt64(round * 50 + number))), "env": "dev",
                                ],
                                headers: ["X-Forwarded-For": "198.51.100.1"]
                            )
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                registered += answers.count { $0.json?["rc"] == 1 }
                limited += answers.filter { $0.status == 429 }
            }
            let elapsed = Double((ContinuousClock.now - start).components.seconds) + 1
            #expect(registered + limited.count == 2000)
            #expect(Double(registered) <= 600 + 10 * elapsed, "the burst, and ten per second")
            let stored = try await world.value(
                "SELECT count(*)::text AS value FROM gateway.identity WHERE vendor = 'rationalowl'"
            )
            #expect(stored == "\(registered + 1)", "a refused registration stores nothing")
            #expect(limited.first?.json?["rc"] != nil, "in the vendor's format: \(limited.first?.text ?? "")")
            // Another address, and a device of the limited address that is registered already.
            #expect(try await Self.register(world, 1 << 40, from: "198.51.100.2").json?["rc"] == 1)
            #expect(try await Self.register(world, UInt64.max, from: "198.51.100.1").json?["rc"] == -122)
            #expect(try await world.metric("calls_limited_total", "limit=\"identities\"") == Double(limited.count))
            let lines = try world.gatewayLog().split(separator: "\n").filter { $0.contains("calls limited") }
            #expect((1...Int(elapsed / 60) + 1).contains(lines.count), "\(lines)")
        }
    }

    // After a restart, the node knows nobody: a registered device of a limited address is found in the database.
    @Test func aRegisteredDeviceOfALimitedAddressIsAdmittedAfterARestart() async throws {
        try await Self.on(["--limits-identities", "0.001/2", "--limits-unknown", "0.001/2"]) { world in
            try await world.killGateway()
            try await world.startGateway()
            for number in 0..<2 as Range<UInt64> {
                #expect(try await Self.register(world, number, from: "2001:db8::\(number + 1)").json?["rc"] == 1)
            }
            // The /64 of an IPv6 address is one customer.
            #expect(try await Self.register(world, 2, from: "2001:db8::9").status == 429)
            #expect(try await Self.register(world, UInt64.max, from: "2001:db8::9").json?["rc"] == -122)
            #expect(try await Self.register(world, 3, from: "2001:db8:0:1::9").json?["rc"] == 1)
        }
    }

    @Test func oneAddressCannotTryIDs() async throws {
        try await Self.on(["--limits-unknown", "0.001/3"]) { world in
            func state(_ device: String, _ address: String = "198.51.100.1") async throws -> HTTPCaller.Answer {
                try await world.http.call(
                    "POST",
                    "/ro/v1/device/state",
                    ["sId": .string(world.service), "dRId": .string(device), "state": "active"],
                    headers: ["X-Forwarded-For": address]
                )
            }
            let known = try #require(try await Self.register(world, 1, from: "198.51.100.1").json?["dRId"]?.string)
            for number in 0..<3 {
                let answer = try await state(String(repeating: "\(number)", count: 32))
                #expect(answer.status == 200 && answer.json?["rc"] != 1, "\(answer.text)")
            }
            #expect(try await state(String(repeating: "a", count: 32)).status == 429)
            #expect(try await state(known).json?["rc"] == 1)
            #expect(try await state(String(repeating: "a", count: 32), "198.51.100.2").status == 200)
            #expect(try await world.metric("calls_limited_total", "limit=\"unknown\"") == 1)
        }
    }

    @Test func wrongKeysOfTheNativeAPIAreSlow() async throws {
        try await Self.on(["--limits-proofs-address", "3"]) { world in
            func call(_ key: String, _ address: String) async throws -> HTTPCaller.Answer {
                try await world.http.call(
                    "GET",
                    "/v1/messages?app=shop",
                    headers: ["X-Forwarded-For": address],
                    bearer: key
                )
            }
            #expect(try await call(world.apiKey, "198.51.100.1").status == 200)
            // Until a wait begins: one failure is forgotten per minute, and a slow machine may need more than four.
            var statuses: [Int] = []
            var last = try await call("wrong 0", "198.51.100.1")
            while last.status == 401, statuses.count < 100 {
                statuses.append(last.status)
                last = try await call("wrong \(statuses.count)", "198.51.100.1")
            }
            #expect(statuses.count >= 4, "the first failures are free: \(statuses)")
            #expect(
                last.status == 429 && last.json?["code"] == "PG-1010" && last.json?["retryAfter"] != nil,
                "\(last.text)"
            )
            #expect(
                try await call(world.apiKey, "198.51.100.1").status == 200,
                "a key that has proved itself does not wait"
            )
            #expect(try await call("wrong", "198.51.100.2").status == 401)
            #expect(try await world.metric("calls_limited_total", "limit=\"proofs.address\"") >= 1)
            #expect(try world.gatewayLog().contains("\"limit\":\"limits.proofs.address\""))
        }
    }

    /// Repeats a call with a wrong proof until it is limited. Waits begin short, and a slow machine may need more calls.
    private static func untilLimited(_ call: () async throws -> Bool) async throws {
        var count = 0
        while count < 200, try await !call() { count += 1 }
        #expect((2..<200).contains(count), "the first failures are free, and a limit follows: \(count)")
    }

    @Test func passwordsAndSignaturesCannotBeTried() async throws {
        try await Self.on(["--limits-proofs-name", "2"]) { world in
            try await world.bindNotificationHubs()
            func site(_ user: String, _ address: String) async throws -> Int {
                try await world.http.call(
                    "POST",
                    "/site/api/register",
                    headers: [
                        "X-Forwarded-For": address,
                        "Authorization": "Basic \(Data(user.utf8).base64EncodedString())",
                    ]
                ).status
            }
            try await Self.untilLimited { try await site("mina:wrong", "198.51.100.1") == 429 }
            #expect(try await site("hong:gildong", "198.51.100.1") == 200)
            #expect(try await site("mina:a secret of mina's", "198.51.100.2") == 200)
            let hubs = NotificationHubsTests()
            func installation(_ key: String) async throws -> NotificationHubsTests.Answer {
                try await hubs.call(
                    world,
                    .GET,
                    "/installations/nobody",
                    headers: ["X-Forwarded-For": "198.51.100.3"],
                    token: hubs.token(world, key: key)
                )
            }
            try await Self.untilLimited {
                let answer = try await installation("wrong")
                return answer.status == 429 && answer.header("Retry-After") != nil
            }
            // A signature cannot be guessed, so that the right one is accepted while wrong ones wait.
            #expect(try await installation(NotificationHubsTests.fullKey).status == 404)
        }
    }

    @Test func keysOfSendersCannotBeTried() async throws {
        try await Self.on(["--limits-proofs-address", "2"]) { world in
            try await world.applySenders()
            func send(_ header: String, _ key: String, _ address: String = "198.51.100.1") async throws -> String {
                try await world.http.post(
                    "/upmc/rcv_register_message.ctl",
                    form: ["APP_ID": "com.bank.keyed", "TYPE": "A", "MESSAGE": "m", "SERVICECODE": "PUBLIC"],
                    headers: ["X-Forwarded-For": address, header: key]
                ).text
            }
            try await Self.untilLimited { try await send("X-Gateway-Key", "wrong").contains("too many requests") }
            #expect(try await send("X-API-Key", "another").contains("too many requests"))
            #expect(try await send("X-Gateway-Key", "wrong", "198.51.100.2").contains("authentication failed"))
        }
    }

    // M8: the connections of one address. The test connects without a proxy, so that its own address is limited.
    @Test func anAddressHasAtMostItsConnections() async throws {
        try await World.with(serveArguments: ["--limits-connections", "3"]) { world in
            let host = try #require(world.http.base.split(separator: "/").last.flatMap { ListenAddress(String($0)) })
            try await OpenConnections.with(5, to: host) { connections in
                // Which of the five come first is not determined.
                try await eventually("two of five connections are closed") { await connections.closedCount == 2 }
                try await eventually("the refused connections are counted") {
                    try await world.metric("calls_limited_total", "limit=\"connections\"") >= 2
                }
            }
            // Closed connections make room for others.
            try await eventually("the address may connect again") {
                (try? await world.http.call("GET", "/v1/apps").status) == 401
            }
        }
    }

    // H2: one list of 10 MB cost 230 MB, and twelve at once 830 MB. Each has an address of its own, so that the room of the node bounds them, not a share.
    @Test func largeBodiesDoNotFillTheMemory() async throws {
        try await Self.on(["--limits-calls"]) { world in
            let caller = HTTPCaller(base: world.http.base, tls: nil, connections: 12)
            try await closing {
                await caller.close()
            } after: {
                let gateway = try #require(world.gateway).processID
                let kinds = LargeBody.kinds(account: world.account)
                // 100 kB start the thread for large bodies.
                _ = try await Self.send(kinds[0].bytes(count: 100_000), 1, caller)
                let before = try Self.memory("VmRSS", of: gateway)
                try "5".write(toFile: "/proc/\(gateway)/clear_refs", atomically: false, encoding: .utf8)
                let bodies = kinds.map { $0.bytes(count: $0.count) }
                let answers = try await Self.sendAtOnce(12, bodies, caller)
                let peak = try Self.memory("VmHWM", of: gateway)
                #expect(peak - before <= 64 << 10, "\(before) kB before, \(peak) kB at most")
                // At least one body that has room at once and one that waits for it.
                #expect(answers.count { $0.answer.status != 429 } >= 2)
                for (index, kind) in kinds.enumerated() {
                    let right = try await Self.send(kind.bytes(count: kind.smallCount), 1, caller)
                    for (sent, answer) in answers where sent == index && answer.status != 429 {
                        #expect(answer.text == right.text, "\(kind.name): \(answer.text)")
                    }
                }
                #expect(try await Self.register(world, 7, from: "198.51.100.1").json?["rc"] == 1)
            }
        }
    }

    private static func send(_ bytes: [UInt8], _ number: Int, _ caller: HTTPCaller) async throws -> HTTPCaller.Answer {
        try await caller.post("/msgClient/sendMsg", json: bytes, headers: ["X-Forwarded-For": "203.0.113.\(number)"])
    }

    /// Sends that many bodies at once, each from another address. Returns the answers with the indices of their bodies.
    private static func sendAtOnce(
        _ count: Int,
        _ bodies: [[UInt8]],
        _ caller: HTTPCaller
    ) async throws -> [(index: Int, answer: HTTPCaller.Answer)] {
        try await withThrowingTaskGroup(of: (Int, HTTPCaller.Answer).self) { group in
            for number in 0..<count {
                let index = number % bodies.count
                let body = bodies[index]
                group.addTask {
                    let answer = try await Self.send(body, 10 + number, caller)
                    return (index, answer)
                }
            }
            var answers: [(index: Int, answer: HTTPCaller.Answer)] = []
            for try await (index, answer) in group { answers.append((index, answer)) }
            return answers
        }
    }

    /// A JSON body of about 10 MB.
    private struct LargeBody {
        var name: String
        var beginning: String
        var part: String
        var end: String
        /// How often the part is repeated.
        var count: Int
        /// A body with so many parts gets the same answer.
        var smallCount = 1

        /// The first two are below the limit of values, so that they are parsed as a whole.
        static func kinds(account: String) -> [LargeBody] {
            let beginning = #"{"aId":"\#(account)","x":"#
            let quote = "\""
            return [
                LargeBody(name: "text", beginning: beginning + quote, part: "a", end: quote + "}", count: 10_000_000),
                LargeBody(
                    name: "texts",
                    beginning: beginning + "[" + quote,
                    part: String(repeating: "a", count: 47) + #"",""#,
                    end: quote + "]}",
                    count: 200_000
                ),
                LargeBody(
                    name: "digits",
                    beginning: beginning + "[",
                    part: "1,",
                    end: "1]}",
                    count: 5_000_000,
                    smallCount: 260_000
                ),
            ]
        }

        func bytes(count: Int) -> [UInt8] {
            let part = Array(part.utf8)
            var bytes = Array(beginning.utf8)
            bytes.reserveCapacity(bytes.count + count * part.count + end.utf8.count)
            for _ in 0..<count { bytes.append(contentsOf: part) }
            return bytes + Array(end.utf8)
        }
    }

    // A caller without an app must not make the node hold its bytes. Where the name stands in the body makes no difference to the answer.
    @Test func aLargeBodyForAnUnknownAppIsNotRead() async throws {
        try await Self.on(["--limits-calls"]) { world in
            let path = "/msgClient/sendMsg"
            let filler = String(repeating: "a", count: 100_000)
            let unknown = try await world.http.post(path, json: Array(#"{"aId":"nobody","x":"a"}"#.utf8))
            let known = try await world.http.post(path, json: Array(#"{"aId":"\#(world.account)","x":"a"}"#.utf8))
            try #require(unknown.text != known.text)
            let address = try #require(ListenAddress(String(world.http.base.dropFirst("http://".count))))
            let early = try await HalfBody.post(
                host: address.host,
                port: address.port,
                path: path,
                statedBytes: 10_000_000,
                beginning: #"{"aId":"nobody","x":"\#(filler)"#,
                until: unknown.text
            )
            #expect(early.hasSuffix(unknown.text), "\(early)")
            for (account, answer) in [("nobody", unknown), (world.account, known)] {
                for body in [#""aId":"\#(account)","x":"\#(filler)""#, #""x":"\#(filler)","aId":"\#(account)""#] {
                    let whole = try await world.http.post(path, json: Array("{\(body)}".utf8))
                    #expect(whole.text == answer.text, "\(body.prefix(40)): \(whole.text)")
                }
            }
        }
    }

    // Two addresses may hold all room together. They keep it for 7 s at most while others wait, and these wait for 10 s.
    @Test func twoAddressesThatSendSlowlyDoNotKeepOthersOut() async throws {
        try await Self.on(["--limits-bodies-bytes", "200000"]) { world in
            let path = "/msgClient/sendMsg"
            func body(_ count: Int) -> String {
                #"{"aId":"\#(world.account)","x":""# + String(repeating: "a", count: count)
            }
            func send(_ count: Int) async throws -> HTTPCaller.Answer {
                let headers = ["Content-Type": "application/json"]
                let call = LoopbackClient.Call(path: path, headers: headers, body: body(count) + #""}"#)
                return try await LoopbackClient.from("127.5.0.3", to: world.http.base) { try await $0.call(call) }
            }
            let small = try await send(1)
            try await LoopbackClient.from("127.5.0.1", to: world.http.base) { one in
                try await one.begin(path, statedBytes: 100_000, body(70_000))
                try await LoopbackClient.from("127.5.0.2", to: world.http.base) { other in
                    try await other.begin(path, statedBytes: 100_000, body(70_000))
                    try await Task.sleep(for: .seconds(1))
                    let start = ContinuousClock.now
                    let answer = try await send(90_000)
                    let waited = ContinuousClock.now - start
                    #expect(answer.status == small.status && answer.text == small.text, "\(waited): \(answer.text)")
                    #expect(waited > .seconds(2), "the two did not hold the room")
                }
            }
        }
    }

    /// A value of a process's status. Unit: kB.
    static func memory(_ name: String, of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    @Test func withoutLimitsNothingIsRefused() async throws {
        try await Self.on(["--no-limits-calls", "--limits-identities", "0.001/1"]) { world in
            for number in 0..<5 as Range<UInt64> {
                let answer = try await Self.register(world, number, from: "198.51.100.1")
                #expect(answer.json?["rc"] == 1, "\(answer.text)")
            }
        }
    }
}

/// Connections that send nothing.
private actor OpenConnections {
    private(set) var closedCount = 0
    private var channels: [any Channel] = []

    static func with(
        _ count: Int,
        to address: ListenAddress,
        _ body: (OpenConnections) async throws -> Void
    ) async throws {
        let connections = OpenConnections()
        for _ in 0..<count { try await connections.open(address) }
        try await closing {
            await connections.close()
        } after: {
            try await body(connections)
        }
    }

    private func open(_ address: ListenAddress) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: address.host, port: address.port).get()
        channel.closeFuture.whenComplete { _ in Task { await self.closed() } }
        channels.append(channel)
    }

    private func closed() { closedCount += 1 }

    private func close() async {
        for channel in channels { try? await channel.close() }
    }
}
