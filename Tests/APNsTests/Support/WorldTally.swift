import Model
import NIOConcurrencyHelpers
import TestKit

/// The observations of a virtual run.
struct WorldTally {
    /// Pushes that completed twice.
    var doubled: [Int] = []
    /// The first push that never completed.
    private(set) var lost: Int?
    var completedCount = 0
    /// The number of pushes that completed after their deadline, and (`latest`) the longest delay in microseconds.
    private(set) var lateCount = 0
    private(set) var latest = 0
    /// The number of pushes that were given to a connection.
    private(set) var leftCount = 0
    /// The most pushes that left between the offer of a small client's push and the turn in which it left, beyond one push of every client for
    /// each of its own pushes that may have been ahead of it. The order within a turn is not recorded; `FairQueueTests` covers it.
    private(set) var longestWait = 0
    private var leftBeforeTurn = 0
    /// Pushes of small clients with almost none waiting that were refused because the queue was full.
    private(set) var smallRefusedCount = 0
    private(set) var acceptedCount = 0
    private(set) var unsentCount = 0
    private(set) var unknownCount = 0
    private(set) var otherCount = 0
    /// The maximum number of pushes that were held at the same time.
    var heldMost = 0
    var virtualSeconds = 0
    var connectionCount = 0

    mutating func turnBegins() { leftBeforeTurn = leftCount }

    mutating func note(lost: Int?) { self.lost = lost }

    mutating func left(_ offer: VirtualWorld.Offer, of client: TenantID, ownTurns: Int) {
        if client != "flood" {
            let fair = VirtualWorld.clients.count * ownTurns
            longestWait = max(longestWait, leftBeforeTurn - offer.leftBefore - fair)
        }
        leftCount += 1
    }

    mutating func ended(_ offer: VirtualWorld.Offer, of client: TenantID, _ outcome: Outcome, at now: Int) {
        completedCount += 1
        if now > offer.deadline {
            lateCount += 1
            latest = max(latest, now - offer.deadline)
        }
        switch outcome {
        case .accepted: acceptedCount += 1
        case .unsent(let error):
            unsentCount += 1
            if error.code == .overloaded, client != "flood", offer.ownAhead <= 30 { smallRefusedCount += 1 }
        case .indeterminate: unknownCount += 1
        case .rejected, .deferred: otherCount += 1
        }
    }
}

/// A seeded number in 0..<1 at each call.
final class SharedJitter: Sendable {
    private let random: NIOLockedValueBox<SplitMix>

    init(_ seed: UInt64) { random = NIOLockedValueBox(SplitMix(state: seed ^ 0xA5A5)) }

    func next() -> Double { random.withLockedValue { Double.random(in: 0..<1, using: &$0) } }
}
