/// The numbers of calls that are not performed yet. Pure.
///
/// They are added in rising order, so that the smallest one is the first that is not removed: a question costs the same however many there are.
package struct OpenNumbers: Sendable {
    /// The numbers in their order, from `first` on. Those in the middle may be removed already.
    private var numbers: [Int] = []
    private var first = 0
    private var open: Set<Int> = []

    package init() {}

    /// Adds a number that is larger than all before.
    package mutating func add(_ number: Int) {
        numbers.append(number)
        open.insert(number)
    }

    /// Removes a number, if it is open.
    package mutating func remove(_ number: Int) {
        guard open.remove(number) != nil else { return }
        while first < numbers.count, !open.contains(numbers[first]) { first += 1 }
        // When more than half of them are removed: each removal then costs the same on average.
        guard numbers.count > 2 * open.count else { return }
        numbers = numbers[first...].filter { open.contains($0) }
        first = 0
    }

    /// Whether all numbers up to this one are removed.
    package func areRemoved(upTo number: Int) -> Bool { first == numbers.count || numbers[first] > number }
}
