/// A regular expression of an audience filter. Matching takes time linear in the text: a pattern with endless backtracking must not stop a node.
///
/// It supports literals, `.`, classes, `\d \w \s` and their opposites, `* + ?`, `|`, groups, `^` and `$`. A match may begin anywhere in the text, and
/// case is significant (Assumed). Other syntax (counts, backreferences, lookaround) is refused.
struct AudiencePattern: Hashable {
    private var program: [Step] = []

    /// Nil for unsupported syntax, and for a pattern that is too long or too deep.
    init?(_ text: String) {
        guard (1...BrazeLimits.patternCharacters).contains(text.unicodeScalars.count) else { return nil }
        var reader = PatternReader(text)
        guard let node = reader.pattern() else { return nil }
        emit(node)
        program.append(.match)
    }

    /// The maximum cost of each character of a text: the number of steps, and of the ranges that they compare.
    var cost: Int {
        program.reduce(0) { sum, step in
            if case .one(let set, _) = step { sum + 1 + set.ranges.count } else { sum + 1 }
        }
    }

    /// A text that is too long does not match.
    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars.prefix(BrazeLimits.matchedCharacters + 1))
        guard scalars.count <= BrazeLimits.matchedCharacters else { return false }
        var current = Threads(count: program.count)
        var place = 0
        while true {
            // A match may begin anywhere.
            if add(0, to: &current, place, scalars.count) { return true }
            guard place < scalars.count else { return false }
            var next = Threads(count: program.count)
            for index in current.steps {
                guard case .one(let set, let then) = program[index], set.contains(scalars[place]) else { continue }
                if add(then, to: &next, place + 1, scalars.count) { return true }
            }
            current = next
            place += 1
        }
    }

    // MARK: Steps

    private enum Step: Hashable {
        case one(ScalarSet, then: Int)
        case split(Int, Int)
        case first(then: Int)
        case last(then: Int)
        case match
    }

    private struct Threads {
        var steps: [Int] = []
        private var isThere: [Bool]

        init(count: Int) { isThere = Array(repeating: false, count: count) }

        mutating func insert(_ index: Int) -> Bool {
            guard !isThere[index] else { return false }
            isThere[index] = true
            return true
        }
    }

    /// Follows the steps that consume no character; true: the pattern matches. Each step is followed once per position.
    private func add(_ start: Int, to threads: inout Threads, _ place: Int, _ count: Int) -> Bool {
        var open = [start]
        while let index = open.popLast() {
            guard threads.insert(index) else { continue }
            switch program[index] {
            case .one: threads.steps.append(index)
            case .split(let left, let right): open += [left, right]
            case .first(let then): if place == 0 { open.append(then) }
            case .last(let then): if place == count { open.append(then) }
            case .match: return true
            }
        }
        return false
    }

    /// Appends the steps of `node`; they end where the next steps begin.
    private mutating func emit(_ node: PatternNode) {
        let here = program.count
        switch node {
        case .empty: break
        case .set(let set): program.append(.one(set, then: here + 1))
        case .first: program.append(.first(then: here + 1))
        case .last: program.append(.last(then: here + 1))
        case .sequence(let nodes): for node in nodes { emit(node) }
        case .either(let left, let right):
            program.append(.match)
            emit(left)
            let middle = program.count
            program.append(.match)
            emit(right)
            program[here] = .split(here + 1, middle + 1)
            program[middle] = .split(program.count, program.count)
        case .repeated(let inner, let atLeastOnce, let often):
            if !atLeastOnce { program.append(.match) }
            let start = program.count
            emit(inner)
            if often { program.append(.split(start, program.count + 1)) }
            if !atLeastOnce { program[here] = .split(start, program.count) }
        }
    }
}

/// A set of characters.
struct ScalarSet: Hashable {
    var ranges: [ClosedRange<UInt32>] = []
    var isInverted = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar.value) } != isInverted
    }

    static let any = ScalarSet(isInverted: true)
    static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    static let words: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
    static let spaces: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20]
}

/// A node of the syntax tree of a pattern.
indirect enum PatternNode: Hashable {
    case empty, first, last
    case set(ScalarSet)
    case sequence([PatternNode])
    case either(PatternNode, PatternNode)
    case repeated(PatternNode, atLeastOnce: Bool, often: Bool)
}

/// Parses a pattern. Its work is bounded by the length of the text, which is limited.
struct PatternReader {
    private let scalars: [Unicode.Scalar]
    private var place = 0
    private var depth = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        place += 1
        return true
    }

    /// Nil unless the whole text is a pattern.
    mutating func pattern() -> PatternNode? {
        guard let node = alternatives(), place == scalars.count else { return nil }
        return node
    }

    private mutating func alternatives() -> PatternNode? {
        guard var node = sequence() else { return nil }
        while take("|") {
            guard let other = sequence() else { return nil }
            node = .either(node, other)
        }
        return node
    }

    private mutating func sequence() -> PatternNode? {
        var nodes: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            guard var node = atom() else { return nil }
            // One repeat operator only: `a**` and lazy or possessive operators are not supported.
            switch next {
            case "*": node = .repeated(node, atLeastOnce: false, often: true)
            case "+": node = .repeated(node, atLeastOnce: true, often: true)
            case "?": node = .repeated(node, atLeastOnce: false, often: false)
            case "{": return nil
            default:
                nodes.append(node)
                continue
            }
            place += 1
            if let more = next, "*+?{".unicodeScalars.contains(more) { return nil }
            nodes.append(node)
        }
        return nodes.isEmpty ? .empty : .sequence(nodes)
    }

    private mutating func atom() -> PatternNode? {
        guard let scalar = next else { return nil }
        place += 1
        switch scalar {
        case ".": return .set(.any)
        case "^": return .first
        case "$": return .last
        case "[": return bracket().map { .set($0) }
        case "\\": return escaped().map { .set($0) }
        case "*", "+", "?", "{", "}", "]": return nil
        case "(":
            depth += 1
            // `(?:` is a group as well; every other `(?` is unsupported.
            if take("?"), !take(":") { return nil }
            guard depth <= BrazeLimits.patternDepth, let node = alternatives(), take(")") else { return nil }
            depth -= 1
            return node
        default: return .set(ScalarSet(ranges: [scalar.value...scalar.value]))
        }
    }

    private mutating func escaped() -> ScalarSet? {
        guard let scalar = next else { return nil }
        place += 1
        switch scalar {
        case "d": return ScalarSet(ranges: ScalarSet.digits)
        case "D": return ScalarSet(ranges: ScalarSet.digits, isInverted: true)
        case "w": return ScalarSet(ranges: ScalarSet.words)
        case "W": return ScalarSet(ranges: ScalarSet.words, isInverted: true)
        case "s": return ScalarSet(ranges: ScalarSet.spaces)
        case "S": return ScalarSet(ranges: ScalarSet.spaces, isInverted: true)
        case "n": return ScalarSet(ranges: [0x0A...0x0A])
        case "t": return ScalarSet(ranges: [0x09...0x09])
        default:
            // An escaped letter or digit has a meaning in other dialects.
            let isMark = scalar.isASCII && !ScalarSet(ranges: ScalarSet.words).contains(scalar)
            return isMark ? ScalarSet(ranges: [scalar.value...scalar.value]) : nil
        }
    }

    private mutating func bracket() -> ScalarSet? {
        var set = ScalarSet(isInverted: take("^"))
        while let scalar = next, scalar != "]" {
            place += 1
            var low = scalar
            if scalar == "\\" {
                guard let inner = escaped(), !inner.isInverted else { return nil }
                guard inner.ranges.count == 1, let only = inner.ranges.first, only.count == 1,
                    let one = Unicode.Scalar(only.lowerBound)
                else {
                    set.ranges += inner.ranges
                    continue
                }
                low = one
            } else if scalar == "[" {
                return nil
            }
            guard next == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
                set.ranges.append(low.value...low.value)
                continue
            }
            place += 1
            guard let high = next, high != "\\", high != "[", high.value >= low.value else { return nil }
            place += 1
            set.ranges.append(low.value...high.value)
        }
        return take("]") && !set.ranges.isEmpty ? set : nil
    }
}
