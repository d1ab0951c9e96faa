/// The shared fields that a session's requests refer to, by number.
///
/// A stream must keep its blocks alive, and consecutive requests usually share them. Counted here in plain numbers, they cost no reference count per request. A
/// number identifies a block while it is in use or the current one; after that the number may be reused.
struct HeldBlocks {
    private struct Entry {
        var block: HeaderBlock?
        var useCount = 0
    }

    /// The number that stands for no block.
    static let none = -1

    private var entries: [Entry] = []
    private var free: [Int] = []
    private var current = none

    /// The number of a block, which becomes the current one.
    mutating func number(of block: HeaderBlock) -> Int {
        if current != Self.none {
            if entries[current].block === block { return current }
            if entries[current].useCount == 0 { drop(current) }
        }
        if let place = free.popLast() {
            current = place
        } else {
            current = entries.count
            entries.append(Entry())
        }
        entries[current].block = block
        return current
    }

    /// Adds a use; the block is kept until each use was released by `letGo`.
    mutating func use(_ number: Int) {
        if number != Self.none { entries[number].useCount += 1 }
    }

    mutating func letGo(_ number: Int) {
        guard number != Self.none else { return }
        entries[number].useCount -= 1
        if entries[number].useCount == 0, number != current { drop(number) }
    }

    subscript(number: Int) -> HeaderBlock? { number == Self.none ? nil : entries[number].block }

    private mutating func drop(_ number: Int) {
        entries[number].block = nil
        free.append(number)
    }
}
