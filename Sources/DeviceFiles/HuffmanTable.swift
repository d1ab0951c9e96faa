/// A code of deflate (RFC 1951 §3.2), as a table over all texts of its longest length.
struct HuffmanTable: Sendable {
    /// The longest code. Unit: bits.
    private static let longest = 15

    /// The symbol times 16, plus the length of its code; 0: no code begins so.
    private var entries: [UInt16]
    private let width: Int

    /// Nil if the lengths describe more codes than there are. A code that is never used may be missing.
    init?(_ lengths: ArraySlice<UInt8>) {
        var counts = [Int](repeating: 0, count: Self.longest + 1)
        for length in lengths { counts[min(Int(length), Self.longest)] += 1 }
        counts[0] = 0
        let width = max(1, counts.lastIndex { $0 > 0 } ?? 1)
        var next = [Int](repeating: 0, count: Self.longest + 2)
        var room = 1
        for length in 1...Self.longest {
            room = room * 2 - counts[length]
            guard room >= 0 else { return nil }
            next[length + 1] = (next[length] + counts[length]) * 2
        }
        var entries = [UInt16](repeating: 0, count: 1 << width)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            let bits = Int(length)
            var place = Self.reversed(next[bits], bits)
            next[bits] += 1
            while place < entries.count {
                entries[place] = UInt16(truncatingIfNeeded: symbol << 4 | bits)
                place += 1 << bits
            }
        }
        self.entries = entries
        self.width = width
    }

    private static func reversed(_ code: Int, _ bits: Int) -> Int {
        (0..<bits).reduce(0) { $0 << 1 | code >> $1 & 1 }
    }

    /// The next symbol; nil: more input is needed.
    ///
    /// - Throws: `GzipInflater.Fault` if no code begins with the next bits.
    @inline(__always)
    func symbol(_ input: inout GzipInput) throws(GzipInflater.Fault) -> Int? {
        if input.count < width { input.refill() }
        let entry = entries[input.peek(UInt64(entries.count - 1))]
        let bits = Int(entry & 15)
        if bits == 0, input.count >= width { throw .broken }
        guard bits > 0, bits <= input.count else { return nil }
        input.drop(bits)
        return Int(entry >> 4)
    }

    // MARK: The tables of blocks

    /// Fixed codes are never too many (RFC 1951 §3.2.6).
    static let fixedLiterals = fixed(
        (0..<288).map { symbol in symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8 }
    )
    static let fixedDistances = fixed([UInt8](repeating: 5, count: 32))

    private static func fixed(_ lengths: [UInt8]) -> HuffmanTable { HuffmanTable(lengths[...]) ?? HuffmanTable() }

    /// A table without codes.
    private init() {
        entries = [0, 0]
        width = 1
    }

    /// The order in which a block states the lengths of the codes of lengths.
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// The tables that a block states at its beginning; nil: more input is needed.
    ///
    /// - Throws: `GzipInflater.Fault`.
    static func dynamic(
        _ input: inout GzipInput
    ) throws(GzipInflater.Fault) -> (literals: HuffmanTable, distances: HuffmanTable)? {
        guard let first = input.take(5), let second = input.take(5), let third = input.take(4) else { return nil }
        let literals = first + 257
        let total = literals + second + 1
        guard literals <= 286, second < 30 else { throw .broken }
        var lengths = [UInt8](repeating: 0, count: order.count)
        for place in order.prefix(third + 4) {
            guard let length = input.take(3) else { return nil }
            lengths[place] = UInt8(truncatingIfNeeded: length)
        }
        guard let codes = HuffmanTable(lengths[...]) else { throw .broken }
        guard let stated = try Self.lengths(total, codes, &input) else { return nil }
        // Without a code for its end a block would not end.
        guard stated[256] > 0, let one = HuffmanTable(stated[..<literals]),
            let two = HuffmanTable(stated[literals...])
        else { throw .broken }
        return (one, two)
    }

    /// The lengths of `total` codes; nil: more input is needed.
    private static func lengths(
        _ total: Int,
        _ codes: HuffmanTable,
        _ input: inout GzipInput
    ) throws(GzipInflater.Fault) -> [UInt8]? {
        var lengths: [UInt8] = []
        while lengths.count < total {
            guard let symbol = try codes.symbol(&input) else { return nil }
            if symbol < 16 {
                lengths.append(UInt8(truncatingIfNeeded: symbol))
                continue
            }
            let (bits, least) = symbol == 16 ? (2, 3) : symbol == 17 ? (3, 3) : (7, 11)
            guard let more = input.take(bits) else { return nil }
            var repeated: UInt8 = 0
            if symbol == 16 {
                guard let last = lengths.last else { throw .broken }
                repeated = last
            }
            guard lengths.count + least + more <= total else { throw .broken }
            lengths += [UInt8](repeating: repeated, count: least + more)
        }
        return lengths
    }
}

/// Lengths and distances, each as a symbol and further bits (RFC 1951 §3.2.5).
enum DeflateNumber {
    private static let lengths = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let distances = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12_289, 16_385, 24_577,
    ]

    /// The length for a symbol of at least 257; nil: more input is needed.
    static func length(_ symbol: Int, _ input: inout GzipInput) throws(GzipInflater.Fault) -> Int? {
        let place = symbol - 257
        guard lengths.indices.contains(place) else { throw .broken }
        let bits = place < 8 || place == 28 ? 0 : place / 4 - 1
        return input.take(bits).map { lengths[place] + $0 }
    }

    /// The distance for a symbol; nil: more input is needed.
    static func distance(_ symbol: Int, _ input: inout GzipInput) throws(GzipInflater.Fault) -> Int? {
        guard distances.indices.contains(symbol) else { throw .broken }
        let bits = symbol < 4 ? 0 : symbol / 2 - 1
        return input.take(bits).map { distances[symbol] + $0 }
    }
}
