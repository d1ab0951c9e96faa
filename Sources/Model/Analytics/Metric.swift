/// A number of the funnel: a stage, a sum of stages, or what reports can say about them. docs/metrics.md lists all, and a test compares it with these cases.
package enum FunnelMetric: String, Sendable, Hashable, CaseIterable {
    case targets, suppressed, canceled, expired, expiredTried, unsendable, pending, sent, accepted, uncertain, rejected
    case receivable, received, readable, read, ownSent, ownAccepted

    /// The party that reported the number.
    package enum Source: String, Sendable, Hashable { case gateway, transport, app, none }

    package var source: Source {
        switch self {
        case .accepted, .rejected, .ownAccepted: .transport
        case .received, .read: .app
        case .uncertain: .none
        default: .gateway
        }
    }

    /// The definition, for documents and the API's description.
    package var definition: String {
        switch self {
        case .targets:
            "Addressees of accepted messages, once known: those of a list at once, those of an audience page by page."
        case .suppressed: "The gateway decided not to send, for example in quiet hours; the reason says why."
        case .canceled: "The message was canceled first."
        case .expired: "The message expired first."
        case .expiredTried: "The part of `expired` with at least one attempt."
        case .unsendable: "Failed without an attempt: the payload is too large or invalid, or nothing can transport it."
        case .pending: "Without an outcome yet: queued, scheduled, paused, waiting for an approval or for a credential."
        case .sent: "Ended after at least one attempt: `accepted` + `uncertain` + `rejected` + `expiredTried`."
        case .accepted: "The push service accepted the push."
        case .uncertain: "Sent, and the answer was lost, or the app received a rejected, expired or canceled push."
        case .rejected: "The push service rejected the push for good."
        case .receivable:
            "`accepted` + `uncertain` on devices whose SDK can report receipts; of others, those with a report of the read."
        case .received: "The app reported that it received the push. `read` implies it."
        case .readable:
            "`accepted` + `uncertain` on devices whose SDK can report reads; of others, those that reported one."
        case .read: "The user opened the notification."
        case .ownSent: "The part of `sent` that the gateway sent, without pushes that a vendor sent by itself."
        case .ownAccepted: "The part of `accepted` that the gateway sent."
        }
    }

    package func value(of counts: FunnelCounts) -> Int64 {
        let stages = counts.stages
        return switch self {
        case .targets: stages[.targets]
        case .suppressed: stages[.suppressed]
        case .canceled: stages[.canceled]
        case .expired: stages[.expired]
        case .expiredTried: stages[.expiredTried]
        case .unsendable: stages[.unsendable]
        case .pending: stages[.targets] &- stages.sum(FunnelStage.outcomes)
        case .sent: stages.sum([.accepted, .uncertain, .rejected, .expiredTried])
        case .accepted: stages[.accepted]
        case .uncertain: stages[.uncertain]
        case .rejected: stages[.rejected]
        case .receivable: counts.receivable
        case .received: stages[.received]
        case .readable: counts.readable
        case .read: stages[.read]
        case .ownSent: FunnelMetric.sent.value(of: counts) &- stages[.observedSent]
        case .ownAccepted: stages[.accepted] &- stages[.observedAccepted]
        }
    }
}

/// A rate of the funnel: one number divided by another, never by a rounded rate.
package enum FunnelRate: String, Sendable, Hashable, CaseIterable {
    case sentRate, acceptanceRate, receiptRate, readRate, readOfReceivedRate

    /// A rate of fewer deliveries is a small sample.
    package static let smallSample: Int64 = 100

    package var numerator: FunnelMetric {
        switch self {
        case .sentRate: .sent
        case .acceptanceRate: .ownAccepted
        case .receiptRate: .received
        case .readRate, .readOfReceivedRate: .read
        }
    }

    package var denominator: FunnelMetric {
        switch self {
        case .sentRate: .targets
        case .acceptanceRate: .ownSent
        case .receiptRate: .receivable
        case .readRate: .readable
        case .readOfReceivedRate: .received
        }
    }

    /// The value of a rate. Nil: there is nothing to divide by.
    package func value(of counts: FunnelCounts) -> Double? {
        let whole = denominator.value(of: counts)
        return whole > 0 ? Double(numerator.value(of: counts)) / Double(whole) : nil
    }

    package func isSmall(_ counts: FunnelCounts) -> Bool { denominator.value(of: counts) < Self.smallSample }
}
