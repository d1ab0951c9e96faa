import TestKit
import Webhooks

/// What a dispatcher reported, and a way to wait for it.
final class EventLog: Sendable {
    enum Kind: Sendable, CaseIterable { case accepted, postponed, dropped, stopped, leaseLost, storeFailed }

    private let tallies = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, Tally()) })

    /// How many entries were taken by their receivers.
    let told = Tally()

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
            }
        if case .accepted(_, let targets) = event { told.add(targets) }
        tallies[kind]?.add(1)
    }

    /// Returns once `kind` was reported `count` times.
    func wait(for kind: Kind, _ count: Int) async { await tallies[kind]?.reaches(count) }
}
