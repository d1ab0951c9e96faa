import Model
import PageParts

/// The answer of the overview: the first rule that applies. "All systems normal" only without an open problem, and "the queue is empty" only while it is.
struct OverviewSentence: Sendable {
    var funnel: FunnelFigures
    var queue: QueueFigures
    var credentials: [CredentialFigures]
    var losses: [LossFigures]
    /// Notifications per second at present; nil: not known.
    var rate: Double?
    var range: ShownRange
    var format: ConsoleFormat

    /// A queue whose oldest part is due for longer is late.
    private static let longestWait = Duration.seconds(300)
    /// Fewer notifications that the gateway sent say nothing about the share that is accepted.
    private static let sample: Int64 = 100
    /// Below this share of accepted notifications, the sentence names the problem.
    private static let leastAcceptance = 0.8

    private var language: Language { format.language }

    var sentence: Sentence { problem ?? warning ?? normal }

    /// Deliveries cannot be sent.
    private var problem: Sentence? {
        if let held = queue.heldBy.first {
            let known = credentials.first { $0.name == held }
            return Sentence(mark: .bad, text: rejected(held, known), link: link(held))
        }
        if let refused = credentials.first(where: { $0.isUsed && $0.refusal != nil }) {
            return Sentence(mark: .bad, text: rejected(refused.name, refused), link: link(refused.name))
        }
        if let broken = credentials.first(where: { $0.isUsed && !$0.isUsable }) {
            return Sentence(mark: .bad, text: OverviewText.unusable(broken.name)(language), link: link(broken.name))
        }
        return nil
    }

    private func rejected(_ name: String, _ known: CredentialFigures?) -> String {
        let since = known?.refusedAt.map { format.dateTime($0) }
        return OverviewText.rejected(name, known?.refusal, since: since)(language)
    }

    private func link(_ credential: String) -> Link {
        Link(OverviewText.upload(language), "credentials/\(PercentCoding.encode(credential))")
    }

    /// Something waits, or an unusual share is not accepted.
    private var warning: Sentence? {
        let accepted = OverviewText.accepted(format.count(funnel[.accepted]), range.inSentence(language))(language)
        guard queue.lanes != nil else {
            return Sentence(mark: .warn, text: "\(OverviewText.queueUnknown(language)) \(accepted)")
        }
        let view = Link(OverviewText.queue(language), "nodes")
        if !queue.pausedLanes.isEmpty {
            let lanes = queue.pausedLanes.map { StateWords.lane($0)(language) }.joined(separator: ", ")
            return Sentence(mark: .warn, text: OverviewText.paused(lanes)(language), link: view)
        }
        if let oldest = queue.oldestDueAt, oldest + Self.longestWait < format.now {
            return Sentence(mark: .warn, text: OverviewText.late(format.dateTime(oldest))(language), link: view)
        }
        let share = funnel.rate(.acceptanceRate)
        if funnel[.ownSent] >= Self.sample, let share, share < Self.leastAcceptance {
            let reason = losses.first { $0.stage == FunnelStage.rejected.rawValue }?.name(language)
            let text = OverviewText.lowAcceptance(format.rate(share), range.inSentence(language), reason)
            return Sentence(mark: .warn, text: text(language), link: Link(OverviewText.devices(language), "failures"))
        }
        return nil
    }

    private var normal: Sentence {
        let start = OverviewText.normal(language)
        let words = range.inSentence(language)
        if queue.isEmpty {
            let count = format.count(funnel[.accepted])
            let text =
                funnel[.targets] == 0
                ? OverviewText.nothing(words)(language) : OverviewText.acceptedAndEmpty(count, words)(language)
            return Sentence(mark: .ok, text: start + text)
        }
        guard funnel[.pending] > 0 else {
            return Sentence(
                mark: .ok,
                text: start + OverviewText.accepted(format.count(funnel[.accepted]), words)(language)
            )
        }
        let text = OverviewText.queued(format.count(funnel[.pending]), until: end)
        return Sentence(mark: .ok, text: start + text(language))
    }

    /// When the queue will be empty at the present rate, within a day.
    private var end: String? {
        guard let rate, rate > 0 else { return nil }
        let seconds = Double(funnel[.pending]) / rate
        guard seconds < 86_400 else { return nil }
        return format.time(format.now + .seconds(Int64(seconds)))
    }
}
