/// The reads without a limit that are intended. The text has one per line: `place | table | part of the statement | reason and bound`; lines with `#` are
/// comments.
package struct PlanExceptions: Sendable {
    package struct Exception: Sendable, Hashable {
        /// The name of a function, or `store`.
        package var place: String
        package var table: String
        package var part: String
        package var reason: String
    }

    package private(set) var exceptions: [Exception] = []

    package init(text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " | ", maxSplits: 3).map(String.init)
            guard parts.count == 4 else { continue }
            exceptions.append(Exception(place: parts[0], table: parts[1], part: parts[2], reason: parts[3]))
        }
    }

    /// The faults that are not intended, and the exceptions that no fault needs.
    package func apply(to faults: [PlanFault]) -> (faults: [PlanFault], unused: [Exception]) {
        var unused = Set(exceptions)
        let left = faults.filter { fault in
            let matching = exceptions.filter {
                $0.place == fault.place && $0.table == fault.table && fault.words.contains($0.part)
            }
            unused.subtract(matching)
            return matching.isEmpty
        }
        return (left, exceptions.filter { unused.contains($0) })
    }
}

extension PlanFault {
    /// The statement with single spaces.
    fileprivate var words: String { sql.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
