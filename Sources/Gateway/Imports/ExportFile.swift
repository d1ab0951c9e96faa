import DeviceFiles
import Foundation
import Model

/// The destination of an export: whole records only, so that the last one says where to continue.
///
/// The records go to `PATH.part`, which becomes `PATH` at the end. A record is a line of JSON, or a row of CSV, whose cells in quotes may contain line ends.
package final class ExportFile {
    /// Why a destination cannot be used.
    package enum Problem: Error, Equatable {
        case notWritable(path: String)
        /// The last record of the part has no cursor.
        case notAnExport(path: String)
    }

    /// 1 MiB: how much of an existing part is in memory at once.
    private static let chunkBytes = 1 << 20

    private let path: String?
    private let format: DeviceFormat
    private let handle: FileHandle
    private var splitter: RecordSplitter
    /// The bytes since the last whole record, and the splitter's offset of the first of them.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    /// Whether the next record is a header that the file has already.
    private var skipsHeader = false
    /// Whether the next record is the header of a new file.
    private var awaitsHeader: Bool
    /// The `cursor` of the last record.
    package private(set) var cursor: String?
    /// The rows of the file, those of an existing part included.
    package private(set) var rows = 0

    package var partPath: String { (path ?? "") + ".part" }

    /// - Parameters:
    ///   - path: the file; nil: standard output.
    ///   - format: of the records.
    /// - Throws: `Problem`, or the file system's error.
    package init(_ path: String?, _ format: DeviceFormat) throws {
        self.path = path
        self.format = format
        splitter = RecordSplitter(quotes: format == .csv)
        awaitsHeader = format == .csv
        guard let path else {
            handle = .standardOutput
            return
        }
        let part = path + ".part"
        if !FileManager.default.fileExists(atPath: part) {
            // The rows name people: only the user may read them.
            _ = FileManager.default.createFile(atPath: part, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let handle = FileHandle(forUpdatingAtPath: part) else { throw Problem.notWritable(path: part) }
        self.handle = handle
        try readPart()
    }

    /// Finds the last whole record of an existing part, and cuts off what follows it. From the start, because only there it is known whether a line end is
    /// inside quotes.
    private func readPart() throws {
        var end = 0
        var last: [UInt8]?
        var isFirst = true
        while let chunk = try handle.read(upToCount: Self.chunkBytes), !chunk.isEmpty {
            for record in splitter.feed(chunk) {
                end = record.end
                defer { isFirst = false }
                if isFirst, awaitsHeader { continue }
                rows += 1
                last = record.bytes
            }
        }
        // A header alone is not kept: the next answer has one.
        guard rows > 0 else { return try restart(keeping: 0) }
        guard let last, let found = Self.cursor(last, format) else { throw Problem.notAnExport(path: partPath) }
        cursor = found
        awaitsHeader = false
        try restart(keeping: UInt64(end))
    }

    private func restart(keeping length: UInt64) throws {
        try handle.truncate(atOffset: length)
        try handle.seek(toOffset: length)
        dropPart()
    }

    /// Writes the records that these bytes complete.
    package func take(_ bytes: [UInt8]) throws {
        pending += bytes
        var records = splitter.feed(bytes)[...]
        guard let end = records.last?.end else { return }
        var start = pendingStart
        if skipsHeader, let header = records.popFirst() {
            start = header.end
            skipsHeader = false
        }
        if end > start {
            try handle.write(contentsOf: Data(pending[(start - pendingStart)..<(end - pendingStart)]))
        }
        pending.removeFirst(end - pendingStart)
        pendingStart = end
        if awaitsHeader, records.popFirst() != nil { awaitsHeader = false }
        rows += records.count
        if let last = records.last?.bytes { cursor = Self.cursor(last, format) ?? cursor }
    }

    /// The connection ended in the middle of a record; the next answer begins with a header again.
    package func dropPart() {
        pending = []
        pendingStart = 0
        splitter = RecordSplitter(quotes: format == .csv)
        skipsHeader = format == .csv && !awaitsHeader
    }

    /// All records are there.
    package func finish() throws {
        guard let path else { return }
        try handle.close()
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.moveItem(atPath: partPath, toPath: path)
    }

    private static func cursor(_ record: [UInt8], _ format: DeviceFormat) -> String? {
        switch format {
        case .ndjson: (try? JSONParser.parse(record))?["cursor"]?.string
        case .csv: record.firstIndex(of: UInt8(ascii: ",")).map { String(decoding: record[..<$0], as: UTF8.self) }
        }
    }
}
