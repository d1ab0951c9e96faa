/// The shared fields that a session's requests refer to, by number.
///
/// A stream has to keep its blocks alive, and neighbours mostly have the same ones: counted here, in plain numbers, they cost no reference count
/// per request. A number stands for a block while it is used or the current one; then it may stand for another.
struct HeldBlocks {
    private struct Entry {
        var block: HeaderBlock?
        var useCount = 0
    }

    /// What stands for no block.
    static let none = -1

    private var entries: [Entry] = []
    private var free: [Int] = []
    private var current = none

    /// The number of a block, which is the current one from now on.
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

    /// The block is kept until as many have let go of it.
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
