import NIOConcurrencyHelpers

/// The pages that viewers of this node have open, each once for all viewers with the same key. Safe to call from any task.
final class SharedPages: Sendable {
    struct Entry {
        let page: SharedPage
        var viewers: Int
        /// The time that the page took to read and write the last time.
        var spent: Duration
    }

    /// An entry exists only while a viewer has the page open.
    let entries = NIOLockedValueBox<[PageKey: Entry]>([:])

    /// The page of one more viewer, who calls `leave` at the end.
    func join(_ key: PageKey) -> SharedPage {
        entries.withLockedValue { entries in
            var entry = entries[key] ?? Entry(page: SharedPage(), viewers: 0, spent: .zero)
            entry.viewers += 1
            entries[key] = entry
            return entry.page
        }
    }

    /// The last viewer that leaves ends the page.
    func leave(_ key: PageKey) {
        entries.withLockedValue { entries in
            guard var entry = entries[key] else { return }
            entry.viewers -= 1
            entries[key] = entry.viewers > 0 ? entry : nil
        }
    }

    /// Notes how long a page took. A page that no browser has open any longer does not count.
    func note(_ key: PageKey, _ spent: Duration) {
        entries.withLockedValue { entries in
            guard var entry = entries[key] else { return }
            entry.spent = spent
            entries[key] = entry
        }
    }

    /// The times between readings of each page that is open now.
    var pace: LivePace {
        LivePace(spent: entries.withLockedValue { $0.values.reduce(.zero) { (sum, entry) in sum + entry.spent } })
    }
}

/// The times between two readings of a page.
struct LivePace: Sendable {
    /// 2 s: people read no faster.
    var shortest = LiveUpdates.interval
    /// 15 s, however long the pages take.
    var longest = Duration.seconds(15)
    /// 30 s: what depends on the time changes without an event.
    var renewal = Duration.seconds(30)
    /// A twentieth of the time for all pages together: deliveries are worth more than figures about them.
    var share = 20
    /// The time that all open pages take to be read once, one after the other.
    var spent = Duration.zero

    /// Between two readings of a page whose data changes all the time.
    var interval: Duration { min(longest, max(shortest, spent * share)) }
}
