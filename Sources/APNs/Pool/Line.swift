/// A first-in, first-out queue with a constant cost per element, however many wait.
struct Line<Element> {
    private var places: [Element?] = []
    private var head = 0

    /// The waiting elements, in order.
    var elements: [Element] { places[head...].compactMap(\.self) }

    mutating func append(_ element: Element) { places.append(element) }

    mutating func popFirst() -> Element? {
        guard head < places.count else { return nil }
        let first = places[head]
        // Release the element at once: it can hold a whole batch.
        places[head] = nil
        head += 1
        if head == places.count {
            places.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head > places.count / 2 {
            places.removeFirst(head)
            head = 0
        }
        return first
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) -> [Element] {
        let removed = elements.filter(isUnwanted)
        guard !removed.isEmpty else { return [] }
        places = elements.filter { !isUnwanted($0) }
        head = 0
        return removed
    }
}

extension Line: Sendable where Element: Sendable {}
