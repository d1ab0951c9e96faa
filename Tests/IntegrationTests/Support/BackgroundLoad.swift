import CommandSupport
import Foundation
import Model
import NIOConcurrencyHelpers
import Testing

@testable import Gateway

/// Calls that compete with a campaign for its rows: polls, histories and receipts of devices with an inbox, receipts of the campaign's devices,
/// cancellations and pauses, and the campaigns of a tenant with a rate. Every node gets all kinds of calls.
final class BackgroundLoad: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var problems: Set<String> = []
        var tasks: [Task<Void, Never>] = []
        /// Messages that may be paused or unfinished, with the key of their tenant.
        var open: [String: String] = [:]
        /// The campaign whose devices report.
        var campaign: String?
    }

    private let nodes: [HTTPCaller]
    private let apiKey: String
    private let meteredKey: String
    private let devices: Int
    private let state = NIOLockedValueBox(State())

    /// Devices of one user each, which receive messages in an inbox.
    private static let inboxes = 12
    /// Between two calls of a task. With 100 ms, the calls alone occupied two cores, and a campaign next to another test took minutes.
    private static let pause = Duration.milliseconds(400)

    init(_ cluster: Cluster, devices: Int, meteredKey: String) throws {
        nodes = try (0..<cluster.count).map { try cluster.http($0) }
        apiKey = cluster.world.apiKey
        self.meteredKey = meteredKey
        self.devices = devices
    }

    var problems: Set<String> { state.withLockedValue(\.problems) }

    /// The number of calls of each kind.
    var summary: String {
        state.withLockedValue(\.counts).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(
            separator: ", "
        )
    }

    /// Registers the devices with an inbox, and starts all kinds of calls.
    func start() async throws {
        for node in nodes {
            try await eventually("the binding is served") {
                let known = try await ipns("getConfig", ["DEVICE_ID": "nobody"], at: node)
                return known?["RT"] == "2003"
            }
        }
        for number in 0..<Self.inboxes {
            let token = String(format: "%064x", 0xB000 + number)
            let fields: JSON = [
                "USER_CN": .string("user-\(number)"), "DEVICE_ID": .string("inbox-\(number)"),
                "PUSH_TOKEN": .string(token),
            ]
            let registered = try await ipns("appRegist", fields, at: nodes[0])
            try #require(registered?["RT"] == "0000", "\(JSONWriter.text(registered ?? .null))")
        }
        let loops: [@Sendable (BackgroundLoad, Int) async throws -> Void] = [
            { try await $0.useInbox($1) }, { try await $0.pollTwice($1) }, { try await $0.report($1) },
            { try await $0.control($1) },
        ]
        var tasks = nodes.indices.flatMap { lane in loops.map { loop in task { try await loop(self, lane) } } }
        tasks.append(task { try await self.sendMetered() })
        state.withLockedValue { $0.tasks = tasks }
    }

    /// Sets the campaign whose devices report receipts.
    func follow(_ campaign: String) { state.withLockedValue { $0.campaign = campaign } }

    /// Ends all calls and waits for the last answers.
    func stop() async throws {
        let tasks = state.withLockedValue(\.tasks)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        // A call may have ended between pausing and canceling its message.
        for (id, key) in state.withLockedValue(\.open) {
            let answer = try await nodes[0].call("POST", "/v1/messages/\(id)/cancel", bearer: key)
            if ![200, 409].contains(answer.status) { note("cancel", .string("\(answer.status) \(answer.text)")) }
        }
    }

    private func task(_ call: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                do {
                    try await call()
                    try await Task.sleep(for: Self.pause)
                } catch is CancellationError {
                    return
                } catch {
                    if !Task.isCancelled { self.state.withLockedValue { _ = $0.problems.insert("\(error)") } }
                }
            }
        }
    }

    private func count(_ what: String) { state.withLockedValue { $0.counts[what, default: 0] += 1 } }

    // MARK: Calls

    /// Sends messages to a user, whose device then acknowledges, polls, reads and shows its history at the same time.
    private func useInbox(_ lane: Int) async throws {
        let number = Int.random(in: 0..<Self.inboxes)
        let user = JSON.string("user-\(number)")
        var ids: [String] = []
        for _ in 1...3 {
            let fields: JSON = [
                "PUSH_ID_TYPE": "@01", "PUSH_ID": [user], "TITLE": "Approval", "ALERT": "New", "SEND_TYPE": "I",
            ]
            let sent = try await ipns("send", fields, at: nodes[lane], bearer: apiKey)
            guard let id = sent?["MESSAGE_ID"]?.string else { return note("send", sent) }
            ids.append(id)
            count("inbox sends")
        }
        for id in ids {
            while try await nodes[lane].call("GET", "/v1/messages/\(id)", bearer: apiKey).json?["state"] != "done" {
                try await Task.sleep(for: Self.pause)
            }
        }
        let device = JSON.string("inbox-\(number)")
        var calls: [(String, JSON)] = [("polling", ["DEVICE_ID": device])]
        for id in ids { calls.append(("recvReport", ["DEVICE_ID": device, "USER_CN": user, "MSG_ID": .string(id)])) }
        calls.append(("polling", ["DEVICE_ID": device]))
        for id in ids.reversed() {
            calls.append(("readReport", ["DEVICE_ID": device, "USER_CN": user, "REQ_ID": .string(id)]))
        }
        calls.append(("getMsgs", ["DEVICE_ID": device, "PUSH_ID_TYPE": "@00", "REQ_TYPE": "N", "COUNT": 20]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, (operation, fields)) in calls.enumerated() {
                let node = nodes[(lane + place) % nodes.count]
                group.addTask {
                    let answer = try await self.ipns(operation, fields, at: node)
                    if answer?["RT"] != "0000" { self.note(operation, answer) }
                    self.count(operation)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Two polls of one device at the same time.
    private func pollTwice(_ lane: Int) async throws {
        let device: JSON = ["DEVICE_ID": .string("inbox-\(Int.random(in: 0..<Self.inboxes))")]
        async let first = ipns("polling", device, at: nodes[lane])
        async let second = ipns("polling", device, at: nodes[(lane + 1) % nodes.count])
        for answer in try await [first, second] where answer?["RT"] != "0000" { note("polling", answer) }
        count("polls")
    }

    /// Receipts of four of the campaign's devices at the same time.
    private func report(_ lane: Int) async throws {
        guard let message = state.withLockedValue(\.campaign) else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in ["received", "read", "received", "received"] {
                let key = "bench-\(Int.random(in: 1...devices))"
                group.addTask {
                    let body: JSON = ["message": .string(message), "key": .string(key), "kind": .string(kind)]
                    let answer = try await self.nodes[lane].call(
                        "POST",
                        "/v1/apps/shop/receipts",
                        body,
                        bearer: self.apiKey
                    )
                    if answer.status != 200 { self.note("receipt", .string("\(answer.status) \(answer.text)")) }
                    self.count("receipts")
                }
            }
            try await group.waitForAll()
        }
    }

    /// 40 devices: more would take the whole machine from the campaigns that the run measures.
    private static let controlled = 40

    /// Pauses, resumes and cancels messages to some devices while they are being sent.
    private func control(_ lane: Int) async throws {
        let first = Int.random(in: 1...max(1, devices - Self.controlled))
        let keys = (first..<min(first + Self.controlled, devices)).map { JSON.string("bench-\($0)") }
        let body: JSON = ["app": "shop", "to": ["keys": .array(keys)], "body": "controlled"]
        let sent = try await nodes[lane].call("POST", "/v1/messages", body, bearer: apiKey)
        guard sent.status == 202, let id = sent.json?["id"]?.string else {
            return note("submission", .string("\(sent.status) \(sent.text)"))
        }
        state.withLockedValue { $0.open[id] = apiKey }
        for action in ["pause", "resume", "pause", "cancel"] {
            let node = nodes[Int.random(in: nodes.indices)]
            let answer = try await node.call("POST", "/v1/messages/\(id)/\(action)", bearer: apiKey)
            // 409: the message has ended before.
            if ![200, 409].contains(answer.status) { note(action, .string("\(answer.status) \(answer.text)")) }
            count(action)
        }
        state.withLockedValue { $0.open[id] = nil }
    }

    /// The campaigns of the tenant with a rate; each lasts 20 seconds.
    private func sendMetered() async throws {
        let body: JSON = ["app": "shop", "to": ["everyone": true], "body": "metered"]
        let sent = try await nodes[1].call("POST", "/v1/messages", body, bearer: meteredKey)
        guard sent.status == 202, let id = sent.json?["id"]?.string else {
            return note("metered submission", .string("\(sent.status) \(sent.text)"))
        }
        count("metered campaigns")
        state.withLockedValue { $0.open[id] = meteredKey }
        while !Task.isCancelled {
            let shown = try await nodes[2].call("GET", "/v1/messages/\(id)", bearer: meteredKey)
            if shown.json?["state"] == "done" {
                state.withLockedValue { $0.open[id] = nil }
                return
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    // MARK: Helpers

    private func ipns(_ operation: String, _ fields: JSON, at node: HTTPCaller, bearer: String? = nil) async throws
        -> JSON?
    {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await node.call("POST", "/ipns/\(operation)", .object(body), bearer: bearer)
        if answer.status != 200 { note(operation, .string("\(answer.status) \(answer.text)")) }
        return answer.json
    }

    private func note(_ call: String, _ answer: JSON?) {
        state.withLockedValue { _ = $0.problems.insert("\(call): \(answer.map(JSONWriter.text) ?? "no answer")") }
    }
}

extension World {
    /// Adds entries to the script of the push service.
    func script(_ entries: JSON) async throws {
        let answer = try await control.call("POST", "/_simulator/script", entries)
        try #require(answer.status == 200, "\(answer.text)")
    }

    func clearScript() async throws {
        let answer = try await control.call("DELETE", "/_simulator/script")
        try #require(answer.status == 200, "\(answer.text)")
    }
}
