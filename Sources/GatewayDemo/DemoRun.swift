package import CommandSupport
import Foundation
package import Model
import NIOConcurrencyHelpers

/// Runs the vendors' stories on the processes of the demo, and prints each step with its results.
package final class DemoRun: Sendable {
    /// Makes a call of a story in another way, for example first without its credential. `make` makes the call that it is given.
    package typealias Detour =
        @Sendable (_ call: StoryCall, _ make: (StoryCall) async throws -> StoryAnswer) async throws -> StoryAnswer

    /// The listeners of a running gateway and the control address of its simulator.
    package struct Callers: Sendable {
        package var http: HTTPCaller
        package var https: HTTPCaller
        package var control: HTTPCaller

        package init(http: HTTPCaller, https: HTTPCaller, control: HTTPCaller) {
            self.http = http
            self.https = https
            self.control = control
        }
    }

    package let apiKey: String
    private let http: HTTPCaller
    private let https: HTTPCaller
    private let control: HTTPCaller
    private let isVerbose: Bool
    private let detour: Detour?
    private let step = NIOLockedValueBox(0)

    package convenience init(stage: DemoStage, isVerbose: Bool) {
        let callers = Callers(http: stage.http, https: stage.https, control: stage.control)
        self.init(callers, apiKey: stage.apiKey, isVerbose: isVerbose)
    }

    /// - Parameters:
    ///   - callers: the gateway and the simulator.
    ///   - apiKey: a key of the tenant for the native API.
    ///   - isVerbose: whether each call and its answer are printed.
    ///   - detour: makes the calls of the stories. Nil: they are made as they are.
    package init(_ callers: Callers, apiKey: String, isVerbose: Bool, detour: Detour? = nil) {
        self.apiKey = apiKey
        http = callers.http
        https = callers.https
        control = callers.control
        self.isVerbose = isVerbose
        self.detour = detour
    }

    /// - Throws: `StageFailure` at the first step that fails.
    package func play(_ stories: [any VendorStory]) async throws {
        Console.print("One gateway, one PostgreSQL, one APNs simulator, \(stories.count) vendors.")
        for (index, story) in stories.enumerated() {
            Console.print("\nVendor \(index + 1): \(story.title).\n")
            try await story.play(self)
        }
    }

    private func line(_ text: String) { Console.print("    \(text)") }
}

extension DemoRun: StoryStage {
    package var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    package func say(_ text: String) {
        let number = step.withLockedValue {
            $0 += 1
            return $0
        }
        Console.print("\(number). \(text)")
    }

    package func show(_ value: JSON) { line(JSONWriter.text(value)) }

    package func expect(_ holds: Bool, _ what: String) throws {
        guard holds else { throw failure("did not hold: \(what)") }
        line("ok: \(what)")
    }

    package func failure(_ what: String) -> any Error { StageFailure("step \(step.withLockedValue { $0 }): \(what)") }

    package func call(_ call: StoryCall) async throws -> StoryAnswer {
        guard let detour else { return try await make(call) }
        return try await detour(call, make)
    }

    private func make(_ call: StoryCall) async throws -> StoryAnswer {
        let caller = call.usesTLS ? https : http
        let answer: HTTPCaller.Answer
        let shown: String
        switch call.body {
        case .none:
            shown = ""
            answer = try await caller.call(call.method, call.path, headers: call.headers)
        case .json(let json):
            shown = JSONWriter.text(json)
            answer = try await caller.call(call.method, call.path, json, headers: call.headers)
        case .form(let fields):
            shown = "\(fields)"
            answer = try await caller.post(call.path, form: fields, headers: call.headers)
        }
        note("\(call.method) \(call.path) \(shown)", answer)
        return StoryAnswer(status: answer.status, body: answer.bytes)
    }

    package func native(_ method: String, _ path: String, _ body: JSON?) async throws -> JSON {
        let answer = try await http.call(method, path, body, bearer: apiKey)
        note("\(method) \(path) \(body.map(JSONWriter.text) ?? "")", answer)
        guard (200..<300).contains(answer.status), let json = answer.json else {
            throw failure("\(method) \(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    package func upload(_ path: String, _ bytes: [UInt8]) async throws -> Int {
        try await http.put(path, bytes, bearer: apiKey).status
    }

    package func settled(_ message: String) async throws -> JSON {
        for _ in 0..<400 {
            let json = try await native("GET", "/v1/messages/\(message)", nil)
            if json["state"]?.string == "done" { return json }
            try await pause()
        }
        throw failure("message \(message) was not done within 20 s")
    }

    package func pushes(to token: String) async throws -> [JSON] {
        let seen = try await control.call("GET", "/_simulator/requests?token=\(token)")
        return seen.json?["requests"]?.array ?? []
    }

    package func script(_ rules: JSON) async throws {
        let answer = try await control.call("POST", "/_simulator/script", rules)
        guard answer.status == 200 else { throw failure("the simulator does not accept the script: \(answer.text)") }
    }

    package func simulatorCounts() async throws -> JSON {
        try await control.call("GET", "/_simulator/stats").json ?? .null
    }

    package func pause() async throws { try await Task.sleep(for: .milliseconds(50)) }

    /// Prints a call and its answer with `--verbose`.
    private func note(_ call: String, _ answer: HTTPCaller.Answer) {
        guard isVerbose else { return }
        line(call)
        line("\(answer.status) \(answer.text)")
    }
}

// MARK: Funnels

extension DemoRun {
    package func compare(_ messages: [(name: String, id: String)], since before: JSON) async throws {
        say("The funnels, read from /v1, against the simulator's own counts")
        let columns = ["recipients", "sent", "received", "read", "failed", "suppressed"]
        var rows: [[String]] = []
        var sent: Int64 = 0
        var failed: Int64 = 0
        for (name, id) in messages {
            let funnel = try await native("GET", "/v1/messages/\(id)", nil)["funnel"] ?? .null
            rows.append([name] + columns.map { "\(funnel[$0]?.int ?? -1)" })
            sent += funnel["sent"]?.int ?? 0
            failed += funnel["failed"]?.int ?? 0
        }
        Console.print(Console.table(["message"] + columns, rows))
        let after = try await simulatorCounts()
        let accepted = (after["accepted"]?.int ?? -1) - (before["accepted"]?.int ?? 0)
        let refused =
            (after["rejected"]?["Unregistered"]?.int ?? 0) - (before["rejected"]?["Unregistered"]?.int ?? 0)
        line("simulator: \(accepted) accepted, \(refused) Unregistered, \(after["repeats"]?.int ?? -1) repeats")
        try expect(accepted == sent, "accepted at the simulator (\(accepted)) = sent in the funnel (\(sent))")
        try expect(refused == failed, "refused at the simulator (\(refused)) = failed in the funnel (\(failed))")
        try expect(after["repeats"]?.int == 0, "no push went out twice")
    }
}
