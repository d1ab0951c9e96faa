/// Which statements one session has prepared, by text and parameter types, the least recently used given up first.
///
/// Pure. A new name is only a plan until `confirm`: the server may refuse the statement.
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

    /// 256 plans per session. Each costs the server tens of kilobytes, and more texts than this means that somebody
    /// writes values into SQL.
    static let capacity = 256

    private var entries: [Key: Entry] = [:]
    private var tick: UInt64 = 0
    private var nextNumber: UInt64 = 0

    /// Names that were given up and that the server still holds.
    private(set) var abandonedNames: [String] = []

    var count: Int { entries.count }

    /// The name for `key`, and whether it must be prepared first.
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

    /// The server has prepared it.
    mutating func confirm(_ key: Key) { entries[key]?.isConfirmed = true }

    /// The server refused it, or no longer honours it: prepared anew at its next use.
    mutating func forget(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key), entry.isConfirmed else { return }
        abandonedNames.append(entry.name)
    }

    /// Gives up what exceeds the capacity. Between batches only: a batch may use more than fits.
    mutating func trim() {
        while entries.count > Self.capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            forget(oldest.key)
        }
    }

    /// The names to deallocate now.
    mutating func takeAbandonedNames() -> [String] {
        defer { abandonedNames = [] }
        return abandonedNames
    }
}
