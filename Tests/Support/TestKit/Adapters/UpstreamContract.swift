import FoundationEssentials
import HTTPTypes
package import Model

/// The rules that the upstream part of every adapter keeps. Each check returns the fault, so that it needs no test framework; nil: no fault.
package enum UpstreamContract {
    /// Calls that were written for `count` targets: each target is in one call at most, with a name where the call has names.
    package static func fault(_ calls: [UpstreamCall], of count: Int) -> String? {
        var seen: Set<Int> = []
        for call in calls {
            if call.targets.isEmpty { return "a call without targets" }
            if !call.names.isEmpty, call.names.count != call.targets.count { return "\(call.names.count) names" }
            for target in call.targets where !(0..<count).contains(target) || !seen.insert(target).inserted {
                return "target \(target) twice, or not in the list"
            }
        }
        return nil
    }

    /// The result of a call: one outcome per target; texts and times of the vendor within their limits.
    package static func fault(_ result: UpstreamResult, of call: UpstreamCall) -> String? {
        guard result.outcomes.count == call.targets.count else {
            return "\(result.outcomes.count) outcomes of \(call.targets.count) targets"
        }
        if let reference = result.reference {
            guard !reference.isEmpty, reference.utf8.count <= 128, isPrintable(reference) else { return "reference" }
            guard result.outcomes.contains(where: \.mayHavePushed) else { return "a reference of a refused call" }
        }
        for outcome in result.outcomes {
            if let fault = Self.fault(outcome) { return fault }
        }
        return nil
    }

    private static func fault(_ outcome: Outcome) -> String? {
        switch outcome {
        case .accepted(let id): return id.isEmpty ? nil : "an id of a single target"
        case .rejected(let rejection): return fault(rejection)
        case .deferred(let rejection, let after):
            if let after, after < .zero || after > .seconds(86_400) { return "wait \(after)" }
            return fault(rejection)
        // The vendor has the whole call, so that the machine must not send it again.
        case .unsent: return "unsent"
        case .indeterminate: return nil
        }
    }

    private static func fault(_ rejection: Rejection) -> String? {
        guard (1...64).contains(rejection.reason.utf8.count), isPrintable(rejection.reason) else {
            return "reason \(rejection.reason)"
        }
        // A vendor's answer must never invalidate a stored token.
        guard case .tokenDead(let since) = rejection.scope else { return nil }
        return since == Timestamp(milliseconds: 0) ? nil : "condemns a token"
    }

    static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

    /// Sends an accepted message through the upstream and reads the call again: its content must be the same.
    ///
    /// - Parameters:
    ///   - submission: the message as the adapter has read it.
    ///   - adapter: the adapter of the vendor.
    ///   - upstream: the fields of the credential.
    ///   - target: a target that the upstream can address.
    ///   - settings: those of the binding.
    /// - Returns: the difference; nil: there is none, or the message cannot be sent through the upstream.
    package static func survivalFault(
        of submission: Submission,
        _ adapter: some UpstreamAdapter,
        through upstream: UpstreamSettings,
        to target: TargetFacts,
        settings: BindingSettings
    ) -> String? {
        let time = Timestamp(seconds: 1_732_000_000)
        var message = Model.Notification(
            message: MessageID(UUID()),
            origin: adapter.vendor,
            content: submission.content,
            sentAt: time
        )
        message.fallback = submission.fallback
        message.image = submission.image
        let calls: [UpstreamCall]
        do throws(AdapterError) {
            calls = try adapter.outbound(message, to: [target], through: upstream, settings: settings, at: time)
        } catch {
            return nil
        }
        guard calls.count == 1, let call = calls.first, call.targets == [0] else { return "\(calls.count) calls" }
        let kind = adapter.kind(of: call.request, settings: settings)
        guard kind == .send else { return "kind \(kind)" }
        do throws(AdapterError) {
            let commands = try adapter.decode(call.request, settings: settings)
            guard case .submission(.submit(let received))? = commands.first else { return "no send" }
            guard received.content == submission.content else { return "content \(received.content)" }
            return received.fallback == submission.fallback ? nil : "another fallback"
        } catch {
            return "\(error)"
        }
    }

    /// The fault in what is read of a request before a rule is applied: only a send names targets.
    package static func fault(_ adapter: some UpstreamAdapter, _ request: VendorRequest, _ settings: BindingSettings)
        -> String?
    {
        let kind = adapter.kind(of: request, settings: settings)
        let named = adapter.named(in: request, settings: settings)
        if let version = adapter.appVersion(in: request), version.isEmpty { return "an empty version" }
        if kind == .send, adapter.reference(in: request, settings: settings) != nil { return "a send about a message" }
        if kind != .send, named != .audience { return "\(kind) names \(named)" }
        guard case .targets(let targets) = named else { return nil }
        return targets.allSatisfy { $0.user != nil || $0.device != nil } ? nil : "a target without a name"
    }

    /// Reads the outcomes of mutated answers to a call. `HostileAnswers` gives them to everything else that reads answers.
    ///
    /// - Parameters:
    ///   - adapter: the adapter of the vendor.
    ///   - call: a call that sends.
    ///   - answers: documented bodies of answers.
    ///   - count: the number of mutations of each answer.
    /// - Returns: the first fault of a result, with the seed that repeats it; nil: no fault.
    package static func mutationFault(
        _ adapter: some UpstreamAdapter,
        to call: UpstreamCall,
        answers: [[UInt8]],
        count: Int = Fuzz.count
    ) -> String? {
        for (place, answer) in answers.enumerated() {
            let json = (try? JSONParser.parse(answer)) ?? .object(JSONObject())
            let known = Array(call.names.prefix(4)) + ["0000", "500", "-1"]
            var mutator = Mutator(seed: Fuzz.seed &+ UInt64(place), known: known)
            for index in 0..<count {
                let body = index % 3 == 0 ? mutator.raw(answer) : mutator.body(index, from: json)
                let response = Self.response(body, &mutator.random)
                if let fault = Self.fault(adapter.outcome(of: call, response: response), of: call) {
                    let text = "\(response.status) \(String(decoding: body, as: UTF8.self))"
                    return "seed \(Fuzz.seed), answer \(place), mutation \(index): \(fault) in \(text)"
                }
            }
        }
        return nil
    }

    private static func response(_ body: [UInt8], _ random: inout SplitMix) -> VendorResponse {
        let statuses = [200, 200, 200, 200, 201, 204, 302, 400, 401, 404, 429, 500, 503, 0, -1, 999]
        let waits = ["", "5", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "1e9", "86401"]
        var headers = HTTPFields()
        headers[.retryAfter] = waits.randomElement(using: &random)
        return VendorResponse(
            status: statuses.randomElement(using: &random) ?? 200,
            headers: headers,
            body: body
        )
    }
}

extension Outcome {
    fileprivate var mayHavePushed: Bool {
        switch self {
        case .accepted, .indeterminate: true
        case .rejected, .deferred, .unsent: false
        }
    }
}
