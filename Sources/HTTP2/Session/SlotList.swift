/// A first-in, first-out list that runs through the slots themselves: no memory of its own, no shifting.
///
/// A slot is in one list at most, because both lists use its `next`.
@safe
struct SlotList {
    private var first = -1
    private var last = -1
    /// How many slots are in it.
    private(set) var count = 0

    /// Puts a slot at the end.
    mutating func append(_ index: Int, in slots: UnsafeMutablePointer<Slot>) {
        unsafe slots[index].next = -1
        if last >= 0 { unsafe slots[last].next = index } else { first = index }
        last = index
        count += 1
    }

    /// Takes the slot at the front.
    mutating func popFirst(in slots: UnsafeMutablePointer<Slot>) -> Int? {
        guard first >= 0 else { return nil }
        let index = first
        first = unsafe slots[index].next
        if first < 0 { last = -1 }
        count -= 1
        return index
    }
}
