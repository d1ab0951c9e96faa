import TestKit
import Webhooks

/// The reports of a dispatcher, and a way to wait for them.
final class EventLog: Sendable {
    enum Kind: Sendable, CaseIterable { case accepted, postponed, dropped, stopped, leaseLost, storeFailed, waiting }

    private let tallies = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, Tally()) })

    /// The number of entries that their receivers have accepted.
    let delivered = Tally()

    func count(_ kind: Kind) -> Int { tallies[kind]?.value ?? 0 }

    func record(_ event: WebhookEvent) {
        let kind: Kind =
            switch event {
            case .accepted: .accepted
            case .postponed: .postponed
            case .dropped: .dropped
            case .stopped: .stopped
            case .leaseLost: .leaseLost
            case .storeFailed: .storeFailed
            case .waiting: .waiting
            }
        if case .accepted(_, let targets) = event { delivered.add(targets) }
        tallies[kind]?.add(1)
    }

    /// Returns once `kind` was reported `count` times.
    func wait(for kind: Kind, _ count: Int) async { await tallies[kind]?.reaches(count) }
}
