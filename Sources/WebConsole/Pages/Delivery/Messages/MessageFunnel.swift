import Model
import PageParts

/// The counts of one message, `funnel` of its answer.
struct MessageFunnel {
    /// Nil while the audience is being expanded.
    let targets: Int64?
    /// Accepted by the push service, or sent without an answer.
    let reached: Int64
    let received: Int64
    let read: Int64
    let failed: Int64
    let suppressed: Int64
    let expired: Int64
    let canceled: Int64
    /// Whether the answer has counts at all.
    let isKnown: Bool

    init(_ message: JSON) {
        let funnel = message["funnel"] ?? .null
        targets = funnel["recipients"]?.int ?? message["recipients"]?.int
        reached = Reading.number(funnel["reached"])
        received = Reading.number(funnel["received"])
        read = Reading.number(funnel["read"])
        failed = Reading.number(funnel["failed"])
        suppressed = Reading.number(funnel["suppressed"])
        expired = Reading.number(funnel["expired"])
        canceled = Reading.number(funnel["canceled"])
        isKnown = funnel.object != nil
    }

    /// Targets that did not reach the push service, or were not accepted by it.
    var lost: Int64 { [failed, suppressed, expired, canceled].reduce(0) { $0.saturated(adding: $1) } }
    /// Targets with an outcome.
    var settled: Int64 { reached.saturated(adding: lost) }
    /// Targets without an outcome; nil while the audience is being expanded.
    var pending: Int64? { targets.map { max(0, $0.saturated(adding: -settled)) } }

    /// One bar: read, received, accepted and lost, as parts of the targets.
    func cell(_ words: Words) -> Table.Cell {
        guard isKnown, let targets, targets > 0, settled > 0 else { return .none }
        func share(_ part: Int64) -> Double { min(1, max(0, Double(part) / Double(targets))) }
        let segments: [Table.Segment] = [
            .init(share: share(read), style: .app), .init(share: share(max(0, received - read)), style: .able),
            .init(share: share(max(0, reached - max(received, read))), style: .transport),
            .init(share: share(lost), style: .lost), .init(share: share(pending ?? 0), style: .track),
        ]
        let parts = [
            (MessagesText.bar.accepted, reached), (MessagesText.bar.received, received),
            (MessagesText.bar.read, read), (MessagesText.bar.lost, lost),
        ]
        let text = parts.map { "\(words($0.0)) \(words.rate($0.1, of: targets))" }.joined(separator: ", ")
        return .bar(segments.filter { $0.share > 0 }, words: text)
    }
}

extension Int64 {
    /// The sum, clamped instead of overflowing.
    fileprivate func saturated(adding other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
