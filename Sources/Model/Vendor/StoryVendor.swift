/// A vendor with a story for `push-gateway demo`.
package protocol StoryVendor: VendorAdapter {
    /// A new story, with ids and keys of its own.
    func story(_ identifiers: any IdentifierSource) -> any VendorStory
}

/// What an app and a back end of a vendor do with the gateway, in order, and what must come back.
///
/// A story has no I/O of its own: it asks its stage, which calls the gateway and the simulator.
package protocol VendorStory: Sendable {
    /// The vendor and what is shown, in one line.
    var title: String { get }
    /// The binding of the demo's app `shop`, in the vendor's own keys; nil: the story brings apps of its own.
    var binding: JSON? { get }
    /// Further apps, each with its binding.
    var apps: [StoryApp] { get }
    /// Secrets by the names of the environment variables that the bindings refer to.
    var secrets: [String: String] { get }

    /// - Throws: at the first step that does not hold.
    func play(_ stage: any StoryStage) async throws
}

extension VendorStory {
    package var apps: [StoryApp] { [] }
    package var secrets: [String: String] { [:] }
}

/// An app that a story brings.
package struct StoryApp: Sendable {
    package var id: String
    package var binding: JSON

    package init(id: String, binding: JSON) {
        self.id = id
        self.binding = binding
    }
}

/// A call of an app or a back end.
package struct StoryCall: Sendable {
    package enum Body: Sendable {
        case none
        case json(JSON)
        case form([String: String])
    }

    package var method: String
    package var path: String
    package var body: Body
    package var headers: [String: String]
    /// Whether it comes by the HTTPS listener.
    package var usesTLS: Bool

    package init(
        _ method: String = "POST",
        _ path: String,
        _ body: Body = .none,
        headers: [String: String] = [:],
        usesTLS: Bool = false
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.headers = headers
        self.usesTLS = usesTLS
    }
}

/// The answer to a call.
package struct StoryAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    package var json: JSON? { try? JSONParser.parse(body) }
    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// Where a story is played: a gateway and the APNs simulator.
package protocol StoryStage: Sendable {
    /// Of the native API, for the demo's tenant.
    var apiKey: String { get }
    var now: Timestamp { get }

    /// Begins a step.
    func say(_ text: String)

    /// Shows a value below the step.
    func show(_ value: JSON)

    /// - Throws: unless `holds`.
    func expect(_ holds: Bool, _ what: String) throws

    /// The failure of the current step.
    func failure(_ what: String) -> any Error

    /// - Throws: when there is no answer.
    func call(_ call: StoryCall) async throws -> StoryAnswer

    /// A call of the native API.
    ///
    /// - Throws: unless it succeeds.
    func native(_ method: String, _ path: String, _ body: JSON?) async throws -> JSON

    /// Uploads bytes by the native API.
    ///
    /// - Throws: when there is no answer.
    func upload(_ path: String, _ bytes: [UInt8]) async throws -> Int

    /// A message once none of it is queued any longer.
    ///
    /// - Throws: when that takes more than 20 s.
    func settled(_ message: String) async throws -> JSON

    /// What the simulator received for a token: each with its `headers` and `payload`.
    ///
    /// - Throws: when there is no answer.
    func pushes(to token: String) async throws -> [JSON]

    /// Tells the simulator how to answer coming pushes: its own rules, see docs/simulator.md.
    ///
    /// - Throws: when it does not accept them.
    func script(_ rules: JSON) async throws

    /// What the simulator has counted so far.
    ///
    /// - Throws: when there is no answer.
    func simulatorCounts() async throws -> JSON

    /// Compares the funnels of named messages with what the simulator has counted since: they must be all messages of that time.
    ///
    /// - Throws: when they differ.
    func compare(_ messages: [(name: String, id: String)], since counts: JSON) async throws

    /// Waits 50 ms.
    ///
    /// - Throws: when the story is cancelled.
    func pause() async throws
}

extension StoryStage {
    /// - Throws: when there is no such text.
    package func text(_ json: JSON, _ key: String) throws -> String {
        guard let text = json[key]?.string, !text.isEmpty else {
            throw failure("the answer has no \(key): \(JSONWriter.text(json))")
        }
        return text
    }

    /// A call whose answer is JSON.
    ///
    /// - Throws: for another status, or another answer.
    package func json(_ call: StoryCall, status: Int = 200) async throws -> JSON {
        let answer = try await self.call(call)
        guard answer.status == status, let json = answer.json else {
            throw failure("\(call.path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    /// A call of the native API without a body.
    ///
    /// - Throws: unless it succeeds.
    package func native(_ method: String, _ path: String) async throws -> JSON { try await native(method, path, nil) }

    /// The payload of the last push to a token, once it is the push number `count`.
    ///
    /// - Throws: when that takes more than 20 s.
    package func payload(to token: String, count: Int = 1) async throws -> JSON {
        for _ in 0..<400 {
            let pushes = try await pushes(to: token)
            if pushes.count >= count { return pushes.last?["payload"] ?? .null }
            try await pause()
        }
        throw failure("the simulator did not receive push \(count) to that token within 20 s")
    }

    /// Repeats a call while its answer says that the binding is not served yet: a running gateway follows what was applied within a second.
    ///
    /// - Throws: when there is no answer.
    package func call(_ call: StoryCall, while isUnbound: (StoryAnswer) -> Bool) async throws -> StoryAnswer {
        var answer = try await self.call(call)
        for _ in 0..<100 where isUnbound(answer) {
            try await pause()
            answer = try await self.call(call)
        }
        return answer
    }
}
