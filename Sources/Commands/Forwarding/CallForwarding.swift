package import Model
import ObservationStore
import Store

/// A call that its upstream receives later. The operation belongs to the transaction that completes the call, so that both happen or neither.
package struct CallForwarding: Sendable {
    package var call: ForwardedCall
    package var subject: ForwardedSubject
    /// Whether the call is complete with the replies to its last commands. Nil: it always is, because the dialect has no calls of several steps.
    package var isComplete: (@Sendable ([Reply]) -> Bool)?
    /// Whether the call is forwarded also if a command is refused: a receipt of a message that the upstream sent, to a device that only the upstream knows.
    package var includesRefused: Bool
    /// Called if the call is not forwarded because too many wait for the upstream.
    package var onFull: (@Sendable () -> Void)?

    package init(
        _ call: ForwardedCall,
        about subject: ForwardedSubject,
        isComplete: (@Sendable ([Reply]) -> Bool)? = nil,
        includesRefused: Bool = false
    ) {
        self.call = call
        self.subject = subject
        self.isComplete = isComplete
        self.includesRefused = includesRefused
    }
}

extension CallForwarding {
    /// The request for the plans of `commands` that forwards the call unless a reply is a refusal. If none can be, the call is added in the same round trip, and
    /// together with those of other calls.
    func added(
        to plans: [Plan],
        of commands: [Command],
        after earlier: [Reply] = []
    ) -> StoreRequest<[Reply]> {
        let request = StoreRequest.all(plans)
        if isComplete == nil, !plans.isEmpty, Self.areNeverRefused(commands),
            !plans.contains(where: { $0.isSettled })
        {
            return request.adding(addition())
        }
        let operation = addition()
        if let known = request.known { return forwards(earlier + known) ? request.adding(operation) : request }
        return request.ending { replies in forwards(earlier + replies) ? [operation] : [] }
    }

    /// The plan that forwards the call unless its own reply or one of the earlier ones is a refusal.
    func added(to plan: Plan, after earlier: [Reply]) -> Plan {
        let operation = addition()
        if let known = plan.known { return forwards(earlier + [known]) ? plan.adding(operation) : plan }
        return plan.ending { reply in forwards(earlier + [reply]) ? [operation] : [] }
    }

    private func forwards(_ replies: [Reply]) -> Bool {
        let isRefused = replies.contains { reply in
            if case .refused = reply { true } else { false }
        }
        guard !isRefused || includesRefused else { return false }
        return isComplete?(replies) ?? true
    }

    private func addition() -> ForwardCalls { ForwardCalls(call, about: subject, onFull: onFull) }

    /// Whether each command either succeeds or ends the transaction: registrations, and the preferences of the device that the call registered last.
    private static func areNeverRefused(_ commands: [Command]) -> Bool {
        var registered: VendorDeviceKey?
        return commands.allSatisfy { command in
            switch command {
            case .registration(.register(let registration)):
                registered = registration.key
                return true
            case .preference(.setPreferences(let caller, _)), .preference(.preferences(let caller)):
                return registered != nil && caller.key == registered
            case .registration, .sender, .group, .receipt, .inbox, .media, .submission, .campaign, .badge, .user:
                return false
            }
        }
    }
}
