/// Inflates gzip (RFC 1951, RFC 1952) as its bytes arrive: pure, and in a memory that does not depend on what a few bytes may expand to.
///
/// Several members after each other are one content, as `cat a.gz b.gz` makes them.
package struct GzipInflater: Sendable {
    /// The reason why the input is not gzip, or no whole one.
    package enum Fault: Error, Hashable, CaseIterable {
        /// The input does not begin with a gzip header, or something else follows its end.
        case notGzip
        /// A block of compressed data is invalid.
        case broken
        /// The checksum or the length of the content differs from what was inflated.
        case checksum
        /// The input ends within the compressed data.
        case truncated

        /// The reason, as a phrase after the file's name.
        package var reason: String {
            switch self {
            case .notGzip: "contains something other than gzip data"
            case .broken: "contains invalid compressed data"
            case .checksum: "does not have the checksum of its content"
            case .truncated: "ends within its compressed data"
            }
        }
    }

    /// 64 KiB of content per piece.
    static let pieceBytes = 65_536
    /// Of the header, with the name of the file and a comment.
    static let headerBytes = 131_072
    /// The content that later parts may repeat (RFC 1951 §2).
    private static let windowBytes = 32_768

    private enum State: Sendable {
        case header
        case block
        case stored(left: Int)
        case codes
        case trailer
    }

    private var state = State.header
    private var input = GzipInput()
    private var literals = HuffmanTable.fixedLiterals
    private var distances = HuffmanTable.fixedDistances
    private var isLastBlock = false
    /// The end of the content so far, and what `next` has not returned of it.
    private var output: [UInt8] = []
    /// The part of `output` that was returned.
    private var returned = 0
    /// The part of `output` that is in the checksum.
    private var counted = 0
    private var sum = CRC32()
    private var length: UInt32 = 0
    /// Whether a whole member has been read.
    private var hasMember = false

    package init() {}

    /// Whether a file that begins with these bytes is gzip.
    package static func begins(_ bytes: some Sequence<UInt8>) -> Bool { Array(bytes.prefix(2)) == [0x1F, 0x8B] }

    /// Appends compressed bytes. `next` returns their content.
    package mutating func feed(_ bytes: [UInt8]) { input.feed(bytes) }

    /// The next piece of the content; nil: more input is needed.
    ///
    /// - Throws: `Fault`.
    package mutating func next() throws(Fault) -> [UInt8]? {
        while output.count - returned < Self.pieceBytes {
            guard try step() else { break }
        }
        guard output.count > returned else { return nil }
        count()
        let piece = Array(output[returned...])
        if output.count > Self.windowBytes { output.removeFirst(output.count - Self.windowBytes) }
        (returned, counted) = (output.count, output.count)
        return piece
    }

    /// Checks that the input is whole. To be called when `next` has returned nil and no input follows.
    ///
    /// - Throws: `Fault`.
    package func finish() throws(Fault) {
        guard case .header = state, hasMember, input.isEmpty else { throw .truncated }
    }

    /// Reads a part of the input. Returns false if it needs more.
    private mutating func step() throws(Fault) -> Bool {
        switch state {
        case .header: try header()
        case .block: try block()
        case .stored(let left): stored(left)
        case .codes: try codes()
        case .trailer: try trailer()
        }
    }

    // MARK: Frame

    private mutating func header() throws(Fault) -> Bool {
        input.align()
        let bytes = input.rest
        guard bytes.count >= 10 else {
            // An end in the first bytes is an end within the data; other first bytes are not gzip.
            guard [0x1F, 0x8B, 0x08].starts(with: bytes.prefix(3)) else { throw .notGzip }
            return false
        }
        let first = bytes.startIndex
        let flags = bytes[first + 3]
        guard bytes[first] == 0x1F, bytes[first + 1] == 0x8B, bytes[first + 2] == 8, flags & 0xE0 == 0 else {
            throw .notGzip
        }
        guard let end = Self.headerEnd(bytes, flags) else {
            guard bytes.count <= Self.headerBytes else { throw .notGzip }
            return false
        }
        input.skip(end - first)
        (sum, length) = (CRC32(), 0)
        state = .block
        return true
    }

    /// The index after the header; nil: more input is needed.
    private static func headerEnd(_ bytes: ArraySlice<UInt8>, _ flags: UInt8) -> Int? {
        var at = bytes.startIndex + 10
        if flags & 4 != 0 {
            guard bytes.endIndex >= at + 2 else { return nil }
            at += 2 + Int(bytes[at]) + Int(bytes[at + 1]) << 8
        }
        // The name of the file and a comment, each with a zero at its end.
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard at <= bytes.endIndex, let zero = bytes[at...].firstIndex(of: 0) else { return nil }
            at = zero + 1
        }
        if flags & 2 != 0 { at += 2 }
        return at <= bytes.endIndex ? at : nil
    }

    private mutating func trailer() throws(Fault) -> Bool {
        input.align()
        let bytes = input.rest
        guard bytes.count >= 8 else { return false }
        count()
        func number(_ start: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[bytes.startIndex + start + $1]) << UInt32(8 * $1) }
        }
        guard number(0) == sum.value, number(4) == length else { throw .checksum }
        input.skip(8)
        hasMember = true
        state = .header
        // Nothing may follow, so the end of the input is not a missing header.
        return !input.isEmpty
    }

    /// Adds the new part of the output to the checksum.
    private mutating func count() {
        sum.add(output[counted...])
        length &+= UInt32(truncatingIfNeeded: output.count - counted)
        counted = output.count
    }

    // MARK: Blocks

    private mutating func block() throws(Fault) -> Bool {
        let place = input.place
        guard let head = input.take(3) else { return false }
        isLastBlock = head & 1 == 1
        switch head >> 1 {
        case 0:
            input.align()
            guard let length = input.take(16), let complement = input.take(16) else {
                input.place = place
                return false
            }
            guard length == complement ^ 0xFFFF else { throw .broken }
            input.align()
            state = .stored(left: length)
        case 1:
            (literals, distances) = (.fixedLiterals, .fixedDistances)
            state = .codes
        case 2:
            guard let tables = try HuffmanTable.dynamic(&input) else {
                input.place = place
                return false
            }
            (literals, distances) = tables
            state = .codes
        default: throw .broken
        }
        return true
    }

    private mutating func stored(_ left: Int) -> Bool {
        guard left > 0 else {
            state = isLastBlock ? .trailer : .block
            return true
        }
        let part = input.rest.prefix(min(left, Self.pieceBytes))
        guard !part.isEmpty else { return false }
        output += part
        input.skip(part.count)
        state = .stored(left: left - part.count)
        return true
    }

    /// Reads symbols until a piece is full or the block ends.
    private mutating func codes() throws(Fault) -> Bool {
        while output.count - returned < Self.pieceBytes {
            let place = input.place
            guard let symbol = try literals.symbol(&input) else { return false }
            if symbol < 256 {
                output.append(UInt8(truncatingIfNeeded: symbol))
                continue
            }
            if symbol == 256 {
                state = isLastBlock ? .trailer : .block
                return true
            }
            guard let length = try DeflateNumber.length(symbol, &input),
                let code = try distances.symbol(&input),
                let distance = try DeflateNumber.distance(code, &input)
            else {
                input.place = place
                return false
            }
            guard distance <= output.count else { throw .broken }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
        return true
    }
}

/// The checksum of a gzip file.
struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }

    private var sum: UInt32 = 0xFFFF_FFFF

    var value: UInt32 { ~sum }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        let table = Self.table
        var sum = sum
        for byte in bytes { sum = sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
        self.sum = sum
    }
}
