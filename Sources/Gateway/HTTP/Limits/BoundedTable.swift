/// A table of a fixed size for values that lose their meaning with time. Pure.
///
/// A full table does not forget everybody: a new key replaces, within a small group of entries, the one that expires first. A flood of new keys, each with
/// little to remember, therefore replaces its own entries, and not those of the keys that were limited.
package struct BoundedTable<Value: Sendable>: Sendable {
    /// 8 entries per group: the search for a victim looks at all of them.
    private static var groupSize: Int { 8 }

    private struct Entry: Sendable {
        var key: UInt64
        var value: Value
        /// Unit: seconds. The value means nothing after this time.
        var expiry: Double
    }

    /// Groups grow with their first entries, so that an unused table needs little memory.
    private var groups: [[Entry]]

    /// - Parameter capacity: the most entries; rounded up to whole groups.
    package init(capacity: Int) {
        groups = Array(repeating: [], count: max(1, (capacity + Self.groupSize - 1) / Self.groupSize))
    }

    package var count: Int { groups.reduce(0) { $0 + $1.count } }

    /// The value of a key; nil when there is none, or it has expired.
    package func value(_ key: UInt64, at now: Double) -> Value? {
        groups[group(of: key)].first { $0.key == key && $0.expiry > now }?.value
    }

    /// Sets the value of a key, which is a hash with a secret seed, so that a caller cannot choose the group. The value loses its meaning at `expiry`; unit:
    /// seconds.
    package mutating func set(_ key: UInt64, _ value: Value, expiry: Double) {
        let group = group(of: key)
        let entry = Entry(key: key, value: value, expiry: expiry)
        if let known = groups[group].firstIndex(where: { $0.key == key }) {
            groups[group][known] = entry
        } else if groups[group].count < Self.groupSize {
            groups[group].append(entry)
        } else if let first = groups[group].indices.min(by: { groups[group][$0].expiry < groups[group][$1].expiry }) {
            groups[group][first] = entry
        }
    }

    package mutating func remove(_ key: UInt64) { groups[group(of: key)].removeAll { $0.key == key } }

    private func group(of key: UInt64) -> Int { Int(key % UInt64(groups.count)) }
}
