/// A set of 64-bit fingerprints in one flat table: 8 bytes per slot, without an allocation per entry.
///
/// Two different texts share a fingerprint with a probability of about 1 in a million at 6 million entries. This is the price of bounded memory.
struct FingerprintSet: Sendable {
    /// The result of an insertion.
    enum Insertion: Sendable {
        case added
        case present
        /// The limit is reached; the set cannot determine whether the entry is new.
        case untracked
    }

    /// The current number of entries.
    private(set) var count = 0

    /// The largest number of entries.
    let limit: Int

    // Open addressing with linear probing; 0 is an empty slot. The size is a power of two and the table at most 3/4 full.
    private var slots: [UInt64]
    private static let firstSize = 1024

    /// Creates an empty set of at most `limit` entries.
    init(limit: Int) {
        self.limit = limit
        slots = Array(repeating: 0, count: Self.firstSize)
    }

    /// Inserts a fingerprint.
    mutating func insert(_ fingerprint: UInt64) -> Insertion {
        let value = fingerprint == 0 ? 1 : fingerprint
        let index = slot(of: value)
        if slots[index] == value { return .present }
        guard count < limit else { return .untracked }
        slots[index] = value
        count += 1
        if count * 4 > slots.count * 3 { grow() }
        return .added
    }

    private func slot(of value: UInt64) -> Int {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: value) & mask
        while slots[index] != 0, slots[index] != value {
            index = (index + 1) & mask
        }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: old.count * 2)
        for value in old where value != 0 {
            slots[slot(of: value)] = value
        }
    }
}

/// A 64-bit fingerprint of text that ignores letter case (hexadecimal tokens, UUIDs): FNV-1a with a final mix.
struct Fingerprint: Sendable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Adds text.
    mutating func combine(_ text: String) {
        for byte in text.utf8 {
            state = (state ^ UInt64(byte | 0x20)) &* 0x0000_0100_0000_01b3
        }
    }

    /// The fingerprint of all added text (the 64-bit finalizer of MurmurHash3 spreads it over the table).
    var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 33)) &* 0xff51_afd7_ed55_8ccd
        mixed = (mixed ^ (mixed >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return mixed ^ (mixed >> 33)
    }
}
