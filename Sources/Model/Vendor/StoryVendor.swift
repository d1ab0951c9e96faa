/// A vendor with a story for `push-gateway demo`.
package protocol StoryVendor: VendorAdapter {
    /// Makes a new story, with new ids and keys.
    func story(_ identifiers: any IdentifierSource) -> any VendorStory
}

/// A sequence of calls by an app and a back end of a vendor, with the expected results.
///
/// A story has no I/O of its own: it uses its stage, which calls the gateway and the simulator.
package protocol VendorStory: Sendable {
    /// The vendor and the subject of the story, in one line.
    var title: String { get }
    /// The binding of the demo's app `shop`, with the vendor's own keys. Nil: the story brings its own apps.
    var binding: JSON? { get }
    /// Additional apps, each with its binding.
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

/// An app that a story adds.
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
    /// Whether the call uses the HTTPS listener.
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

/// The environment of a story: a gateway and the APNs simulator.
package protocol StoryStage: Sendable {
    /// The API key of the demo's tenant for the native API.
    var apiKey: String { get }
    var now: Timestamp { get }

    /// Begins a step.
    func say(_ text: String)

    /// Shows a value below the step.
    func show(_ value: JSON)

    /// - Throws: unless `holds`.
    func expect(_ holds: Bool, _ what: String) throws

    /// Makes the error of the current step.
    func failure(_ what: String) -> any Error

    /// - Throws: when no answer arrives.
    func call(_ call: StoryCall) async throws -> StoryAnswer

    /// Calls the native API.
    ///
    /// - Throws: unless it succeeds.
    func native(_ method: String, _ path: String, _ body: JSON?) async throws -> JSON

    /// Uploads bytes by the native API.
    ///
    /// - Throws: when no answer arrives.
    func upload(_ path: String, _ bytes: [UInt8]) async throws -> Int

    /// Waits until no delivery of a message is queued and returns the message.
    ///
    /// - Throws: when that takes more than 20 s.
    func settled(_ message: String) async throws -> JSON

    /// Returns the pushes that the simulator received for a token, each with its `headers` and `payload`.
    ///
    /// - Throws: when no answer arrives.
    func pushes(to token: String) async throws -> [JSON]

    /// Sets the rules by which the simulator answers further pushes; see docs/simulator.md.
    ///
    /// - Throws: when it does not accept them.
    func script(_ rules: JSON) async throws

    /// Returns the simulator's counters.
    ///
    /// - Throws: when no answer arrives.
    func simulatorCounts() async throws -> JSON

    /// Compares the funnels of the named messages, which must be all messages since `counts`, with what the simulator has counted since.
    ///
    /// - Throws: when they differ.
    func compare(_ messages: [(name: String, id: String)], since counts: JSON) async throws

    /// Waits 50 ms.
    ///
    /// - Throws: when the story is cancelled.
    func pause() async throws
}

extension StoryStage {
    /// - Throws: when the text does not exist.
    package func text(_ json: JSON, _ key: String) throws -> String {
        guard let text = json[key]?.string, !text.isEmpty else {
            throw failure("the answer has no \(key): \(JSONWriter.text(json))")
        }
        return text
    }

    /// Makes a call and parses its answer as JSON.
    ///
    /// - Throws: for another status, or an answer that is not JSON.
    package func json(_ call: StoryCall, status: Int = 200) async throws -> JSON {
        let answer = try await self.call(call)
        guard answer.status == status, let json = answer.json else {
            throw failure("\(call.path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    /// Calls the native API without a body.
    ///
    /// - Throws: unless it succeeds.
    package func native(_ method: String, _ path: String) async throws -> JSON { try await native(method, path, nil) }

    /// Returns the payload of the last push to a token, once push number `count` has arrived.
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

    /// Repeats a call while its answer shows that the binding is not served yet: a running gateway applies a provisioning file within a second.
    ///
    /// - Throws: when no answer arrives.
    package func call(_ call: StoryCall, while isUnbound: (StoryAnswer) -> Bool) async throws -> StoryAnswer {
        var answer = try await self.call(call)
        for _ in 0..<100 where isUnbound(answer) {
            try await pause()
            answer = try await self.call(call)
        }
        return answer
    }
}
