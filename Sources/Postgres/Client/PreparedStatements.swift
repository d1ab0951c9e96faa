/// The statements that one session has prepared, by text and parameter types. The least recently used are dropped first.
///
/// Pure. A new name is provisional until `confirm`, because the server may reject the statement.
struct PreparedStatements {
    struct Key: Hashable {
        var sql: String
        var types: [UInt32]
    }

    private struct Entry {
        var name: String
        var lastUse: UInt64
        var isConfirmed: Bool
    }

    /// 256 plans per session. Each costs the server tens of kilobytes. More distinct texts indicate that a caller writes values
    /// into SQL.
    static let capacity = 256

    private var entries: [Key: Entry] = [:]
    private var tick: UInt64 = 0
    private var nextNumber: UInt64 = 0

    /// Names that were dropped here and that the server still holds.
    private(set) var abandonedNames: [String] = []

    /// Returns the name for `key`, and whether the statement must be prepared first.
    mutating func name(for key: Key) -> (name: String, isNew: Bool) {
        tick += 1
        if let entry = entries[key] {
            entries[key]?.lastUse = tick
            return (entry.name, false)
        }
        nextNumber += 1
        let name = "s\(nextNumber)"
        entries[key] = Entry(name: name, lastUse: tick, isConfirmed: false)
        return (name, true)
    }

    /// The server has prepared the statement.
    mutating func confirm(_ key: Key) { entries[key]?.isConfirmed = true }

    /// The server rejected the statement, or no longer accepts it. It is prepared again at its next use.
    mutating func forget(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key), entry.isConfirmed else { return }
        abandonedNames.append(entry.name)
    }

    /// Drops the entries above the capacity. Called only between batches, because one batch may use more.
    mutating func trim() {
        while entries.count > Self.capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            forget(oldest.key)
        }
    }

    /// Returns the names to deallocate now.
    mutating func takeAbandonedNames() -> [String] {
        defer { abandonedNames = [] }
        return abandonedNames
    }
}
