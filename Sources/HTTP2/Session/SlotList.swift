/// A first-in, first-out list that links the slots themselves, so that it needs no memory and moves nothing.
///
/// A slot is in at most one list, because all lists use its `next`.
@safe
struct SlotList {
    private var first = -1
    private var last = -1
    /// How many slots are in the list.
    private(set) var count = 0

    /// Appends a slot.
    mutating func append(_ index: Int, in slots: UnsafeMutablePointer<Slot>) {
        unsafe slots[index].next = -1
        if last >= 0 { unsafe slots[last].next = index } else { first = index }
        last = index
        count += 1
    }

    /// Removes the first slot.
    mutating func popFirst(in slots: UnsafeMutablePointer<Slot>) -> Int? {
        guard first >= 0 else { return nil }
        let index = first
        first = unsafe slots[index].next
        if first < 0 { last = -1 }
        count -= 1
        return index
    }
}
