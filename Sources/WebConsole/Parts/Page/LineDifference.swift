/// The difference of two texts by lines.
package enum LineDifference {
    /// 1,000 lines of each text: the difference of longer texts would take too long, so they are shown as replaced.
    static let limit = 1000

    /// The lines of both texts: those of `old` that are missing in `new` are removed, those of `new` that are missing in `old` are added.
    package static func lines(from old: String, to new: String) -> [DifferenceLine] {
        let (old, new) = (split(old), split(new))
        guard old.count <= limit, new.count <= limit else {
            return old.prefix(limit).map { DifferenceLine(change: .removed, text: $0) }
                + new.prefix(limit).map { DifferenceLine(change: .added, text: $0) }
        }
        let changes = new.difference(from: old)
        let removed = Set(changes.removals.map(offset))
        let added = Set(changes.insertions.map(offset))
        var lines: [DifferenceLine] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, removed.contains(left) {
                lines.append(DifferenceLine(change: .removed, text: old[left]))
                left += 1
            } else if right < new.count, added.contains(right) {
                lines.append(DifferenceLine(change: .added, text: new[right]))
                right += 1
            } else if left < old.count {
                lines.append(DifferenceLine(change: .same, text: old[left]))
                left += 1
                right += 1
            } else {
                break
            }
        }
        return lines
    }

    private static func split(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
    }

    private static func offset(_ change: CollectionDifference<String>.Change) -> Int {
        switch change {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
