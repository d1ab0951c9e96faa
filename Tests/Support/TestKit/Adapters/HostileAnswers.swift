import HTTPTypes
package import Model

/// An upstream that answers anything: mutations of documented answers, to every documented call. Everything that reads an upstream's answer gets them: the sender,
/// the observer, the comparison of answers, and the forwarder.
///
/// The fault is returned, so that no test framework is needed.
package struct HostileAnswers {
    /// Twice `GATEWAY_FUZZ_COUNT` for each vendor: the five vendors of a long run (10,000) give 100,000 answers.
    package static let count = Fuzz.count * 2

    /// 1,000,000,000 targets of one message: more devices than an app has. Sums of such numbers are far from the largest number.
    private static let targetLimit = 1_000_000_000
    /// 16 KiB: a key of an answer with all its escapes.
    private static let keyBytes = 16 << 10
    /// 32 bytes of a verdict's reason, which is logged and stored: a word and a number.
    private static let reasonBytes = 32

    /// The names of the targets of a send, and codes of the dialects. The fourth text has eight characters of many bytes, the last two cannot be stored or shown.
    private static let known =
        ["hong", "kim", "nobody", String(repeating: "5" + String(repeating: "\u{301}", count: 200), count: 8)]
        + ["0000", "40100", "4400", "500", "success", "9223372036854775807", "500\u{0}", "500\n\u{1B}[2J"]

    private let adapter: any UpstreamAdapter
    private let settings: BindingSettings
    private let calls: [VendorRequest]
    private let answers: [VendorResponse]

    /// - Parameters:
    ///   - adapter: the adapter of the vendor.
    ///   - settings: a binding that reads the calls.
    ///   - calls: documented calls.
    ///   - answers: documented answers, successes and refusals. Each is an answer to each call.
    package init(
        _ adapter: any UpstreamAdapter,
        settings: BindingSettings,
        calls: [VendorRequest],
        answers: [VendorResponse]
    ) {
        self.adapter = adapter
        self.settings = settings
        self.calls = calls
        self.answers = answers
    }

    /// The first fault in what is read of mutated answers, with the seed that repeats it; nil: no fault.
    package func fault(count: Int = HostileAnswers.count) -> String? {
        guard establishesFacts else { return "no documented answer establishes a fact" }
        let bodies = answers.map { try? JSONParser.parse($0.body) }
        var mutator = Mutator(seed: Fuzz.seed, known: Self.known)
        for index in 0..<count {
            let place = Int.random(in: answers.indices, using: &mutator.random)
            let answer = Self.mutated(answers[place], bodies[place], index, &mutator)
            let call = calls[Int.random(in: calls.indices, using: &mutator.random)]
            if let fault = self.fault(of: call, answer, &mutator.random) {
                let text = "\(answer.status) \(String(decoding: answer.body.prefix(500), as: UTF8.self))"
                return "seed \(Fuzz.seed), mutation \(index), \(call.path): \(fault) in \(text)"
            }
        }
        return nil
    }

    /// Without such an answer, only refusals would be tested.
    private var establishesFacts: Bool {
        calls.contains { call in
            answers.contains { !adapter.observedCommands(call, response: $0, settings: settings).isEmpty }
        }
    }

    private static func mutated(
        _ answer: VendorResponse,
        _ json: JSON?,
        _ index: Int,
        _ mutator: inout Mutator
    ) -> VendorResponse {
        var mutated = answer
        if let json, !index.isMultiple(of: 3) {
            mutated.body = mutator.body(index, from: json)
        } else {
            mutated.body = mutator.raw(answer.body)
        }
        if index.isMultiple(of: 7) { mutated.status = Int.random(in: -10...1000, using: &mutator.random) }
        guard index.isMultiple(of: 2) else { return mutated }
        for field in answer.headers {
            let value = mutator.raw(Array(field.value.utf8))
            mutated.headers[field.name] = String(decoding: value, as: UTF8.self)
        }
        return mutated
    }

    private func fault(of call: VendorRequest, _ answer: VendorResponse, _ random: inout SplitMix) -> String? {
        let send = UpstreamCall(call, targets: [0, 1, 2], names: ["hong", "kim", "nobody"])
        if let fault = UpstreamContract.fault(adapter.outcome(of: send, response: answer), of: send) { return fault }
        if let fault = self.observationFault(call, answer, &random) { return fault }
        // A vendor's later reports are read like its answers.
        var report = call
        report.body = answer.body
        _ = adapter.reports(in: report, settings: UpstreamSettings(vendor: adapter.vendor))
        return forwardingFault(call, answer)
    }

    /// The fault in what an answer to a proxied call establishes: the names of messages are stored, and are index columns.
    private func observationFault(
        _ call: VendorRequest,
        _ answer: VendorResponse,
        _ random: inout SplitMix
    ) -> String? {
        let commands = adapter.observedCommands(call, response: answer, settings: settings)
        guard commands.count <= Audience.listedLimit else { return "\(commands.count) commands" }
        for case .submission(.observe(let message)) in commands {
            let isFitting = message.references.allSatisfy {
                (1...160).contains($0.utf8.count) && UpstreamContract.isPrintable($0)
            }
            guard isFitting else { return "observes \(message.references)" }
            guard message.unknown.count <= Audience.listedLimit else { return "\(message.unknown.count) unknown names" }
        }
        if let count = adapter.audienceCount(in: answer), count > Self.targetLimit { return "\(count) targets" }
        // An answer agrees with itself, whatever its bytes are.
        let own = adapter.differences(ours: answer, theirs: answer, for: call)
        guard own.isEmpty else { return "differs from itself in \(own)" }
        let replies = commands.map { _ in AdapterContract.replies.randomElement(using: &random) ?? .receipt(.orphan) }
        guard let compared = adapter.comparable(replies, to: call, response: answer, settings: settings) else {
            return nil
        }
        let ours = adapter.encode(compared, for: call, settings: settings)
        let names = adapter.differences(ours: ours, theirs: answer, for: call)
        // The status and three fields of the head are names too.
        return names.count <= AnswerComparison.nameLimit + 4 ? nil : "\(names.count) differences"
    }

    private func forwardingFault(_ call: VendorRequest, _ answer: VendorResponse) -> String? {
        guard let forwarding = adapter as? any ForwardingVendor else { return nil }
        let verdict = forwarding.verdict(of: answer)
        if let fault = Self.fault(verdict) { return fault }
        // Escapes take three bytes.
        let limit = 3 * Self.size(call) + Self.keyBytes
        let ask = forwarding.keyCall(for: call, refusedBy: verdict)
        let keyed = forwarding.keyed(call, by: answer)
        let sizes = [ask, keyed].compactMap { $0.map { Self.size($0) } }
        return sizes.allSatisfy { $0 <= limit } ? nil : "calls of \(sizes) bytes"
    }

    private static func size(_ call: VendorRequest) -> Int { call.body.count + (call.query?.utf8.count ?? 0) }

    private static func fault(_ verdict: ForwardVerdict) -> String? {
        let reason: String
        switch verdict {
        case .accepted: return nil
        case .refused(let text), .credential(let text): reason = text
        case .failed(let text, let after):
            if let after, after < .zero || after > .seconds(86_400) { return "wait \(after)" }
            reason = text
        case .busy, .canceled: return "not a meaning of an answer"
        }
        let isShown = (1...reasonBytes).contains(reason.utf8.count) && UpstreamContract.isPrintable(reason)
        return isShown ? nil : "reason \(reason)"
    }
}
