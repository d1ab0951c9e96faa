/// Splits the bytes of a file into records as they arrive. A record is a line; in CSV, line ends inside quotes do not end a record (RFC 4180 §2.6).
///
/// A record longer than the limit is reported and skipped up to the next line end, inside quotes or not. Otherwise an unterminated quote would consume the rest
/// of the file.
package struct RecordSplitter: Sendable {
    /// 64 KiB per record: attributes may have 8 KiB, and all other fields are far shorter.
    package static let limitBytes = 65_536
    /// 1 MiB per record of a vendor's export: it may list everything that a user ever did.
    package static let exportLimitBytes = 1_048_576

    /// One record without its line end.
    package struct Record: Sendable, Equatable {
        /// The number of its first line, from 1.
        package var line: Int
        /// Nil if the record was longer than the limit.
        package var bytes: [UInt8]?
        /// The offset of the next record in the file. Unit: bytes.
        package var end: Int

        package init(line: Int, bytes: [UInt8]?, end: Int) {
            self.line = line
            self.bytes = bytes
            self.end = end
        }
    }

    /// The longest record. Unit: bytes.
    package let limitBytes: Int
    private let quotes: Bool
    private var partial: [UInt8] = []
    private var isQuoted = false
    private var isTooLong = false
    private var firstLine: Int
    private var line: Int
    private var offset: Int

    /// - Parameters:
    ///   - quotes: whether line ends inside quotes belong to the record.
    ///   - line: the number of the first line of the input.
    ///   - offset: the offset of the input in the file. Unit: bytes.
    ///   - limitBytes: the longest record. Unit: bytes.
    package init(quotes: Bool, line: Int = 1, offset: Int = 0, limitBytes: Int = Self.limitBytes) {
        self.limitBytes = limitBytes
        self.quotes = quotes
        self.line = line
        firstLine = line
        self.offset = offset
    }

    /// Consumes bytes and returns the records that they complete, without empty lines.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Record] {
        let chunk = Array(bytes)
        let before = offset
        var records: [Record] = []
        // The start of the bytes that are not stored yet.
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
        let room = limitBytes - partial.count
        if bytes.count > room { isTooLong = true }
        partial.append(contentsOf: bytes.prefix(room))
    }

    /// The last record, if the file does not end with a line end.
    package mutating func finish() -> Record? { take() }

    private mutating func take() -> Record? {
        defer {
            // Not emptied with its capacity: the next record would have the memory of the longest one before it, and each record that is kept as well.
            partial = []
            (isQuoted, isTooLong) = (false, false)
            firstLine = line
        }
        if isTooLong { return Record(line: firstLine, bytes: nil, end: offset) }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return partial.isEmpty ? nil : Record(line: firstLine, bytes: partial, end: offset)
    }
}
