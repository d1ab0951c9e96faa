import Model
import PageParts

/// The answer of the page of a message, by rules from its state and counts.
enum MessageSentence {
    static func make(
        _ message: JSON,
        _ funnel: MessageFunnel,
        _ deliveries: MessageDeliveries,
        _ request: PageRequest
    ) -> Sentence {
        let words = Words(request)
        let state = message["state"]?.string.flatMap { MessageState(rawValue: $0) }
        let dead = dead(message)
        // Given up parts are the answer in every state in which they can still be sent.
        if dead.count > 0, state != .canceled, state != .expired {
            let reason = LossReason.meaning(dead.reason, words.language)
            return Sentence(mark: .bad, text: words(MessagePageText.dead(words.count(dead.count), reason)))
        }
        let rate = words.rate(funnel.settled, of: funnel.targets ?? 0)
        switch state {
        case .scheduled:
            let text = MessagePageText.scheduled(words.count(funnel.targets), words.time(message["dueAt"]))
            return Sentence(mark: .info, text: words(text))
        case .awaitingApproval:
            let link = Link(StateTag.message("awaitingApproval").text(words.language), "approvals")
            return Sentence(mark: .warn, text: words(MessagePageText.awaiting), link: link)
        case .expanding: return Sentence(mark: .info, text: words(MessagePageText.expanding))
        case .sending:
            let text = MessagePageText.sending(rate, words.count(funnel.settled), words.count(funnel.targets))
            return Sentence(mark: .info, text: words(text))
        case .paused:
            return Sentence(mark: .warn, text: words(MessagePageText.isPaused(rate, words.count(funnel.pending))))
        case .canceled:
            return Sentence(mark: .idle, text: words(MessagePageText.wasCanceled(words.count(funnel.reached))))
        case .expired:
            return Sentence(mark: .bad, text: words(MessagePageText.didExpire(words.count(funnel.expired))))
        case .observed: return Sentence(mark: .idle, text: words(MessagePageText.observed))
        case .done, .dead, nil: return done(message, funnel, deliveries, words)
        }
    }

    /// The targets that the gateway stopped trying, and the reason of most of them.
    static func dead(_ message: JSON) -> (count: Int64, reason: String?) {
        let parts = message["dead"]?.array ?? []
        let count = parts.reduce(Int64(0)) { sum, part in
            let (added, overflow) = sum.addingReportingOverflow(Reading.number(part["targets"]))
            return overflow ? .max : added
        }
        let largest = parts.max { Reading.number($0["targets"]) < Reading.number($1["targets"]) }
        return (count, largest?["reason"]?.string)
    }

    private static func done(
        _ message: JSON,
        _ funnel: MessageFunnel,
        _ deliveries: MessageDeliveries,
        _ words: Words
    ) -> Sentence {
        guard let targets = funnel.targets, targets > 0 else {
            return Sentence(mark: .warn, text: words(MessagePageText.noTargets))
        }
        let loss = deliveries.losses.first
        let link = loss.map { MessageParts.rows(message, $0, words.language) }
        guard funnel.reached > 0 else {
            let meaning = loss.map { LossReason.meaning($0.reason, words.language) } ?? ""
            let text = MessagePageText.nothingAccepted(words.count(targets), meaning)
            return Sentence(mark: .bad, text: words(text), link: link)
        }
        let rate = words.rate(funnel.reached, of: targets)
        let (reached, whole) = (words.count(funnel.reached), words.count(targets))
        guard funnel.lost > 0, let loss else {
            return Sentence(mark: .ok, text: words(MessagePageText.done(reached, whole, rate)))
        }
        let name = MessageParts.name(loss, words.language)
        let text = MessagePageText.doneWith(reached, whole, rate, name, words.count(loss.count))
        // More than half lost is a problem of the message, not of single devices.
        let isBad = funnel.reached < targets / 2
        return Sentence(mark: isBad ? .warn : .ok, text: words(text), link: link)
    }
}
