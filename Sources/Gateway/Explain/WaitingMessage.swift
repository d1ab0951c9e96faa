import DeliveryEngine
import EngineStore
package import Model
package import Store

/// A message that waits for a diagnosed device, and the reason.
package struct WaitingMessage: Sendable, Hashable {
    /// In the order in which they are examined: the first that holds is the cause.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        /// It awaits an approval.
        case approval
        /// It was tried too often.
        case gaveUp
        /// It is paused.
        case paused
        /// A node is sending it.
        case sending
        /// The tenant's lane is paused.
        case lane
        /// It is scheduled.
        case schedule
        /// The hours for which it waits, as in `TimingRules.Wait`.
        case localTime, quietHours, receivingWindow
        /// Its audience is not read so far.
        case audience
        /// The credential is refused, or its push service is not reachable.
        case credential
        /// The upstream refuses its calls, or is not reachable.
        case upstream
        /// It is tried again.
        case retry
        /// It is throttled.
        case pace
        /// The rate limit of the tenant, or of the credential, has no push left.
        case rate
        /// It is queued: no node has had the capacity.
        case queue
    }

    package var facts: WaitingFacts
    package var cause: Cause
    package var since: Timestamp
    /// When it is tried next; nil: not known.
    package var until: Timestamp?
    /// The credential or upstream that it waits for.
    package var credential: CredentialID?
    /// Why the credential is refused, or why it was given up.
    package var reason: String?

    /// Whether it explains that the device was not notified. A message that is due later does not, if it is not known whether it selects the device.
    func explains(at now: Timestamp) -> Bool { facts.isSelected || facts.dueAt <= now }

    /// The wait and its cause, as a sentence.
    package var text: String {
        let subject = facts.isSelected ? "A message to the device" : "A message that may select the device"
        let time = until?.rfc3339 ?? ""
        let attempts = facts.queue?.attempts ?? 0
        let name = credential?.rawValue ?? ""
        let refusal = reason.map { ", which was refused with \($0)" } ?? ""
        let predicate =
            switch cause {
            case .approval: "waits for an approval."
            case .gaveUp: "was tried too often (\(reason ?? "")) and waits until it is requeued or expires."
            case .paused: "is paused."
            case .sending: "is being sent."
            case .lane: "waits, because the tenant's lane \(facts.lane) is paused."
            case .schedule: "is scheduled for \(time)."
            case .localTime: "waits until \(time) for its local time on the device."
            case .quietHours: "waits until \(time), because of the app's quiet hours."
            case .receivingWindow: "waits until \(time), because of the device's receiving window."
            case .audience: "waits, because the gateway has not read its audience so far."
            case .credential: "waits for the credential \(name)\(refusal)."
            case .upstream: "waits for the upstream \(name)\(refusal)."
            case .pace: "waits for its turn, because the message is throttled."
            case .retry: "is tried again at \(time); tries so far: \(attempts)."
            case .rate where credential == nil: "waits, because the rate limit of the tenant has no push left."
            case .rate: "waits, because the rate limit of the credential \(name) has no push left."
            case .queue: "is queued."
            }
        return "\(subject) \(predicate)"
    }

    /// The recommended action.
    package var action: String {
        switch cause {
        case .approval: "Someone other than its sender has to approve it."
        case .gaveUp: "Fix the cause and requeue the message."
        case .paused: "Resume the message."
        case .lane: DeviceDiagnosis.laneAction
        case .schedule, .localTime, .quietHours, .receivingWindow, .pace: "Nothing: the message is sent then."
        case .sending, .audience: "Nothing: wait a moment."
        case .credential, .upstream:
            reason.flatMap(ReasonText.entry)?.advice
                ?? "Check that it is reachable; waiting messages are sent when it works again."
        case .retry: "Nothing: the gateway tries again until the message expires."
        case .rate: "Wait, or raise pushesPerSecond in the provisioning file and apply it."
        case .queue: "Check the nodes and the length of the queue: push-gateway status."
        }
    }
}

// MARK: - Finding the cause

extension DeviceDiagnosis {
    /// The messages that wait for the device: those that are due, the newest first, then those that are due later.
    package var waiting: [WaitingMessage] { facts.waiting.map { wait(of: $0) } }

    /// The message whose wait is the answer if nothing prevents a push now.
    package var firstWaiting: WaitingMessage? { waiting.first { $0.explains(at: facts.seenAt) } }

    private func wait(of message: WaitingFacts) -> WaitingMessage {
        let hours = hours(of: message)
        let queue = message.queue
        var found = WaitingMessage(
            facts: message,
            cause: cause(of: message, hours),
            since: max(message.acceptedAt, message.dueAt)
        )
        // A peer or a rate that is asked at once has no time.
        let next = queue.flatMap { $0.nextAt > facts.seenAt ? $0.nextAt : nil }
        switch found.cause {
        case .approval, .paused: found.since = message.pausedAt ?? message.acceptedAt
        case .gaveUp: found.reason = queue?.deadReason
        case .schedule:
            found.since = message.acceptedAt
            found.until = max(message.dueAt, hours?.until ?? message.dueAt)
        case .localTime, .quietHours, .receivingWindow: found.until = hours?.until
        case .credential, .upstream:
            let standing = queue?.heldBy.flatMap { holders[$0] }
            found.credential = queue?.heldBy
            found.reason = standing?.refusal
            found.since = standing?.refusedAt ?? found.since
            found.until = next
        case .rate:
            found.credential = spentBudgets.contains(PushRate.tenantBudget) ? nil : upstream ?? credential
            found.until = next
        case .pace, .retry, .queue: found.until = next
        case .sending, .lane, .audience: break
        }
        return found
    }

    private func cause(of message: WaitingFacts, _ hours: HoursWords?) -> WaitingMessage.Cause {
        let queue = message.queue
        if message.state == .awaitingApproval { return .approval }
        if queue?.deadReason != nil { return .gaveUp }
        if message.state == .paused { return .paused }
        if queue?.state == "leased", !message.isExpanding { return .sending }
        if message.isLanePaused { return .lane }
        if message.localDue == nil, message.dueAt > facts.seenAt { return .schedule }
        switch hours?.why {
        case .localTime: return .localTime
        case .quietHours: return .quietHours
        case .receivingWindow: return .receivingWindow
        case nil: break
        }
        if message.isExpanding { return .audience }
        if let holder = queue?.heldBy {
            return UpstreamKind.vendor(of: holders[holder]?.kind ?? "") == nil ? .credential : .upstream
        }
        if let queue, queue.nextAt > facts.seenAt {
            if queue.attempts > 0 { return .retry }
            if message.isPaced { return .pace }
        }
        return spentBudgets.isEmpty ? .queue : .rate
    }

    /// The hours for which a message waits on the device.
    private func hours(of message: WaitingFacts) -> HoursWords? {
        let rules = TimingRules(
            app: facts.timing,
            lane: message.lane,
            dueAt: message.dueAt,
            localDue: message.localDue,
            expiresAt: message.expiresAt
        )
        let clock = facts.device.clock
        guard rules.concerns(clock.window), case .wait(let until, let why) = rules.verdict(clock, now: facts.seenAt)
        else { return nil }
        return HoursWords(why: why, until: until, rules: rules, clock: clock)
    }
}
