/// Cuts a file into records, as its bytes come: lines, and for CSV lines whose ends do not stand in quotes (RFC 4180 §2.6).
///
/// A record longer than the limit is told as such and skipped to the next line end, in quotes or not: one that never closes would otherwise
/// swallow the rest of the file.
struct RecordSplitter {
    /// 64 KiB a record: attributes may have 8 KiB, and everything else far less.
    static let limitBytes = 65_536

    /// One record without its line end.
    struct Record: Equatable {
        /// Where it begins, from 1.
        var line: Int
        /// Nil if it was longer than the limit.
        var bytes: [UInt8]?
        /// How much of the file lies before the next one. Unit: bytes.
        var end: Int
    }

    private let quotes: Bool
    private var partial: [UInt8] = []
    private var isQuoted = false
    private var isTooLong = false
    private var firstLine: Int
    private var line: Int
    private var offset: Int

    /// - Parameters:
    ///   - quotes: whether quotes hide line ends.
    ///   - line: the number of the first line that comes.
    ///   - offset: how much of the file lies before it. Unit: bytes.
    init(quotes: Bool, line: Int = 1, offset: Int = 0) {
        self.quotes = quotes
        self.line = line
        firstLine = line
        self.offset = offset
    }

    /// Takes the next bytes and gives the records that they complete; empty lines are none.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Record] {
        let chunk = Array(bytes)
        let before = offset
        var records: [Record] = []
        // Where what is not kept yet begins.
        var start = 0
        for (index, byte) in chunk.enumerated() {
            if byte == UInt8(ascii: "\n") {
                line += 1
                keep(chunk[start..<index])
                start = index
                guard !isQuoted || isTooLong else { continue }
                start += 1
                offset = before + start
                if let record = take() { records.append(record) }
            } else if quotes, byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        keep(chunk[start...])
        offset = before + chunk.count
        return records
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        let room = Self.limitBytes - partial.count
        if bytes.count > room { isTooLong = true }
        partial.append(contentsOf: bytes.prefix(room))
    }

    /// The last record, if the file does not end with a line end.
    mutating func finish() -> Record? { take() }

    private mutating func take() -> Record? {
        defer {
            partial.removeAll(keepingCapacity: true)
            (isQuoted, isTooLong) = (false, false)
            firstLine = line
        }
        if isTooLong { return Record(line: firstLine, bytes: nil, end: offset) }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return partial.isEmpty ? nil : Record(line: firstLine, bytes: partial, end: offset)
    }
}
