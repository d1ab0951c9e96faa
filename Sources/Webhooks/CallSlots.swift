import Model
import NIOConcurrencyHelpers

/// The calls in progress of a dispatcher: `CallTurns` behind a lock. Only the dispatcher's loop takes calls; any task gives them back.
final class CallSlots: Sendable {
    private let turns: NIOLockedValueBox<CallTurns>

    init(_ limits: CallTurns.Limits) { turns = NIOLockedValueBox(CallTurns(limits)) }

    var free: Int { turns.withLockedValue { $0.free } }

    func choose(from due: [DueSubscription]) -> [Int] { turns.withLockedValue { $0.choose(from: due) } }

    /// The limits because of which the last choice left out due subscriptions.
    var reached: Set<CallTurns.Limit> { turns.withLockedValue { $0.reached } }

    /// A look failed: nothing is known to wait.
    func forgetReached() { turns.withLockedValue { $0.forgetReached() } }

    func take(_ lease: WebhookLease, _ count: Int = 1) {
        turns.withLockedValue { $0.take(Self.subscription(lease), count) }
    }

    func takeMore(_ lease: WebhookLease, _ count: Int) -> Int {
        turns.withLockedValue { $0.takeMore(Self.subscription(lease), count) }
    }

    /// True if a subscription may be waiting for a call.
    func giveBack(_ lease: WebhookLease, _ count: Int) -> Bool {
        turns.withLockedValue { $0.giveBack(Self.subscription(lease), count) }
    }

    private static func subscription(_ lease: WebhookLease) -> DueSubscription {
        DueSubscription(tenant: lease.tenant, url: lease.url)
    }
}
