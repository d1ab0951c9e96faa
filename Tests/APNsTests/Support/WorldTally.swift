import Model
import NIOConcurrencyHelpers
import TestKit

/// What a virtual run has seen.
struct WorldTally {
    /// Pushes that ended twice.
    var doubled: [Int] = []
    /// The first push that never ended.
    private(set) var lost: Int?
    var completedCount = 0
    /// Pushes that ended after their deadline, by how many microseconds at most.
    private(set) var lateCount = 0
    private(set) var latest = 0
    /// Pushes that were given to a connection.
    private(set) var leftCount = 0
    /// How many pushes left at most between the offer of a small client's and the turn in which it left, beyond one of every client for each of
    /// its own that may have been ahead of it. Within a turn the order is lost; `FairQueueTests` has that.
    private(set) var longestWait = 0
    private var leftBeforeTurn = 0
    /// Pushes of small clients with next to nothing waiting that found the queue full all the same.
    private(set) var smallRefusedCount = 0
    private(set) var acceptedCount = 0
    private(set) var unsentCount = 0
    private(set) var unknownCount = 0
    private(set) var otherCount = 0
    /// The most pushes that were held at once.
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
