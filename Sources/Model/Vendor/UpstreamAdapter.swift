/// Translates the calls of one dialect between the gateway and the vendor's real service.
///
/// Pure, as `VendorAdapter` is: no I/O, no clock, no randomness, and nothing that a caller or the vendor sends may trap.
package protocol UpstreamAdapter: UpstreamVendor {
    /// The kind of the call. A function of the request, because one path may read and write; a request that cannot be read has the kind of its path.
    ///
    /// - Parameters:
    ///   - request: the call as it arrived, body included.
    ///   - settings: those of the binding, which may give calls further names; the defaults without a binding.
    /// - Returns: exactly one for every documented call.
    func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind

    /// The targets that a call of kind `.send` names. `.audience` for other kinds and for requests that cannot be read.
    func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets

    /// The version of the app that made the call; nil: the call does not state it.
    func appVersion(in request: VendorRequest) -> String?

    /// Refuses a call whose caller the upstream cannot check, because `prepare` replaces the caller's credential by one that permits more. Called before `prepare` for
    /// every call of a caller that is handed to the upstream, also without a binding (`settings` are the defaults then).
    ///
    /// - Throws: `AdapterError`; `refuse` then writes the answer.
    func admit(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError)

    /// The facts that the upstream's answer to a proxied call establishes, as the call's commands with the upstream's own IDs in place of those that the gateway would draw.
    /// They are performed behind the answer, so that the gateway knows the upstream's devices, users and messages.
    ///
    /// - Parameters:
    ///   - request: the call as it arrived, body included.
    ///   - response: the whole answer, inflated. It is the input of a stranger.
    ///   - settings: those of the binding.
    /// - Returns: empty if the upstream did not accept the call, if it establishes nothing, or if it cannot be read.
    func observedCommands(_ request: VendorRequest, response: VendorResponse, settings: BindingSettings) -> [Command]

    /// Whether the upstream's answers to reads establish something too: a poll marks the messages that it returns as received.
    var observesReads: Bool { get }

    /// The replies from which `encode` writes the answer that the gateway would have given to an observed call.
    ///
    /// - Parameters:
    ///   - replies: those to the observed commands, or to their last sequel.
    ///   - request: the call as it arrived, body included.
    ///   - response: the upstream's answer, by which it accepted the call.
    ///   - settings: those of the binding.
    /// - Returns: nil if the answers to this call cannot be compared.
    func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]?

    /// The names of the fields in which the gateway's answer to a call differs from the upstream's. Times, IDs, the order of JSON and texts for people do not count.
    func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String]

    /// The number of targets of an audience that the answer to a send states; nil: it states none.
    func audienceCount(in response: VendorResponse) -> Int?

    /// The name of the message that a receipt, a read or a change of a message is about, as stored names are spelled; nil: it names none.
    func reference(in request: VendorRequest, settings: BindingSettings) -> String?

    /// The same call as the upstream must receive it: everything unchanged except what names the gateway, for example a signature of the host.
    ///
    /// - Parameters:
    ///   - request: the call as it arrived, body included.
    ///   - upstream: the fields of the credential.
    ///   - host: the upstream's host as in its URL, without port.
    ///   - time: the present, for signatures.
    /// - Returns: nil if the upstream cannot receive such a call.
    func prepare(
        _ request: VendorRequest,
        for upstream: UpstreamSettings,
        host: String,
        at time: Timestamp
    ) -> VendorRequest?

    /// The calls that send `notification` to `targets` through the upstream, each with the places of its targets in `targets`. Each passes through `prepare` when it
    /// leaves, as a caller's call does: signatures are valid for a short time.
    ///
    /// - Returns: every target in at most one call. Targets that this upstream cannot name, and those that the message itself excludes, are in none; empty if it cannot
    ///   send the notification to any of them.
    /// - Throws: `AdapterError` if the content cannot be expressed for this upstream.
    func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall]

    /// The outcome of every target of a call that the upstream answered.
    func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult

    /// The receipts that a call of the vendor reports. It is the input of a stranger who knows the address.
    ///
    /// - Returns: nil if the call cannot be read, or if the vendor reports nothing later.
    func reports(in call: VendorRequest, settings: UpstreamSettings) -> [UpstreamReport]?
}

extension UpstreamAdapter {
    package func appVersion(in request: VendorRequest) -> String? { nil }

    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] { [] }

    package var observesReads: Bool { false }

    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? { replies }

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        AnswerComparison().differences(ours: ours, theirs: theirs)
    }

    package func audienceCount(in response: VendorResponse) -> Int? { nil }
    package func reports(in call: VendorRequest, settings: UpstreamSettings) -> [UpstreamReport]? { nil }

    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? { nil }

    /// The upstream checks the caller's own credential.
    package func admit(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) {}

    package func prepare(
        _ request: VendorRequest,
        for upstream: UpstreamSettings,
        host: String,
        at time: Timestamp
    ) -> VendorRequest? { request }
}

/// One call to an upstream that sends a message to some targets.
package struct UpstreamCall: Sendable {
    package var request: VendorRequest
    /// The places of its targets in the list that was given to `outbound`.
    package var targets: [Int]
    /// The name under which the request addresses each target, in their order: some answers list names. Empty: no answer of the vendor needs them.
    package var names: [String]

    package init(_ request: VendorRequest, targets: [Int], names: [String] = []) {
        self.request = request
        self.targets = targets
        self.names = names
    }
}

/// The answer of an upstream to a call that sends.
package struct UpstreamResult: Sendable, Hashable {
    /// One for each of the call's targets, in their order.
    package var outcomes: [Outcome]
    /// The vendor's name of the message, for its later reports; nil: it gave none.
    package var reference: String?

    package init(_ outcomes: [Outcome], reference: String? = nil) {
        self.outcomes = outcomes
        self.reference = reference
    }
}
