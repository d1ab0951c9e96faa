/// Events in virtual time: a binary heap, first in, first out among events of the same time.
struct EventQueue<Event> {
    private var heap: [(time: Int, order: Int, event: Event)] = []
    private var order = 0

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    /// Adds an event. `time` is in virtual microseconds.
    mutating func add(_ event: Event, at time: Int) {
        order += 1
        heap.append((time, order, event))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the next event.
    mutating func next() -> (time: Int, event: Event)? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, best) {
                best = child
            }
            guard best != parent else { break }
            heap.swapAt(parent, best)
            parent = best
        }
        return (first.time, first.event)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
