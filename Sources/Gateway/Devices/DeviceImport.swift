import Foundation
import Model
import Postgres

/// Reads a file of devices and registers them, batch after batch; flat in the file's size.
///
/// The next batch is read while the one before it is written. A row that cannot be taken goes to `reject` with its reason and stops nothing.
struct DeviceImport {
    /// Where rows go, and what is written of them.
    struct Target: Sendable {
        /// Registers a batch, or says what that would do.
        var write: @Sendable ([DeviceRegistration]) async throws(StoreError) -> PostgresDeviceStore.ImportCounts
        var identifiers: any IdentifierSource
    }

    /// A row that was not taken.
    struct Reject {
        var line: Int
        var reason: String
        var record: [UInt8]

        /// As a line of the rejects' file.
        var text: String {
            JSONWriter.text([
                "line": .int(line), "reason": .string(reason),
                "record": .string(String(decoding: record, as: UTF8.self)),
            ])
        }
    }

    /// What is known after a batch.
    struct State {
        var checkpoint: ImportCheckpoint
        /// Known before and the same: a preview's.
        var unchanged = 0
    }

    private struct Batch {
        var rows: [DeviceRegistration] = []
        var lines: [Int] = []
        var records: [[UInt8]] = []
        var rejects: [Reject] = []
        /// How much of the file it ends with, and the next line.
        var end = 0
        var nextLine = 1
    }

    /// 256 KiB are read at a time: some thousand rows.
    private static let chunkBytes = 262_144

    let format: DeviceFormat
    let target: Target
    /// Told of rows that are not taken, before the batch that they stood in is reported.
    let reject: (Reject) throws -> Void
    /// Told after each batch, when all of it is committed.
    let done: (State) throws -> Void
    /// Lines up to this one are passed over, headings aside: an earlier import has them.
    var after = 0

    /// Imports what the source still has.
    ///
    /// - Parameters:
    ///   - source: open at the checkpoint's offset.
    ///   - start: where to go on.
    /// - Returns: the state at the end.
    /// - Throws: what reading, the store or the callbacks throw; what was reported is committed.
    func run(_ source: FileHandle, from start: ImportCheckpoint) async throws -> State {
        try await run(FileChunks(source: source, bytes: Self.chunkBytes), from: start)
    }

    /// The same of bytes as they come.
    ///
    /// - Throws: what their sequence, the store or the callbacks throw; what was reported is committed.
    func run<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        from start: ImportCheckpoint
    ) async throws -> State where Chunks.Element: Sequence<UInt8> {
        var state = State(checkpoint: start)
        var splitter = RecordSplitter(quotes: format == .csv, line: start.line, offset: start.offset)
        var headings = start.headings
        var batch = Batch()
        var writing: (batch: Batch, task: Task<PostgresDeviceStore.ImportCounts, any Error>)?
        func take(_ records: [RecordSplitter.Record]) async throws {
            for record in records {
                try self.take(record, &headings, &batch)
                guard batch.rows.count + batch.rejects.count >= PostgresDeviceStore.importBatchCount else { continue }
                try await settle(&writing, &state, headings)
                writing = begin(batch)
                batch = Batch()
            }
        }
        do {
            for try await chunk in chunks { try await take(splitter.feed(chunk)) }
            try await take(splitter.finish().map { [$0] } ?? [])
        } catch {
            // What was begun is waited for: its commit is to be reported.
            try await settle(&writing, &state, headings)
            throw error
        }
        try await settle(&writing, &state, headings)
        if batch.end > 0 {
            writing = begin(batch)
            try await settle(&writing, &state, headings)
        }
        return state
    }

    private func take(
        _ record: RecordSplitter.Record,
        _ headings: inout [String],
        _ batch: inout Batch
    ) throws(CommandFailure) {
        batch.end = record.end
        batch.nextLine = record.line + 1
        if record.line <= after, format == .ndjson || !headings.isEmpty { return }
        guard let bytes = record.bytes else {
            let reason = "is longer than \(RecordSplitter.limitBytes) bytes"
            return batch.rejects.append(Reject(line: record.line, reason: reason, record: []))
        }
        if format == .csv, headings.isEmpty {
            headings = try Self.headings(bytes)
            return
        }
        do throws(DeviceLine.Fault) {
            let fields =
                switch format {
                case .ndjson: try DeviceLine.fields(json: bytes)
                case .csv: try DeviceLine.fields(csv: bytes, headings: headings)
                }
            batch.rows.append(try DeviceLine.registration(fields, target.identifiers))
            batch.lines.append(record.line)
            batch.records.append(bytes)
        } catch {
            batch.rejects.append(Reject(line: record.line, reason: error.reason, record: bytes))
        }
        // Lines inside of quotes count too.
        batch.nextLine = record.line + 1 + bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// The columns that the first line names.
    private static func headings(_ bytes: [UInt8]) throws(CommandFailure) -> [String] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        let names = (try? CSV.fields(bytes)) ?? []
        let known = DeviceLine.columns.joined(separator: ", ")
        if let unknown = names.first(where: { !DeviceLine.columns.contains($0) }) {
            throw CommandFailure(
                "devices import: the first line must name the columns; '\(unknown.prefix(64))' is none of \(known)",
                isUsage: true
            )
        }
        guard Set(names).count == names.count, !names.isEmpty else {
            throw CommandFailure(
                "devices import: the first line must name each column once, of \(known)",
                isUsage: true
            )
        }
        return names
    }

    // MARK: Writing

    private func begin(_ batch: Batch) -> (Batch, Task<PostgresDeviceStore.ImportCounts, any Error>) {
        let (rows, write) = (batch.rows, target.write)
        return (batch, Task { rows.isEmpty ? .init() : try await write(rows) })
    }

    /// Waits for the batch that is being written, and reports it.
    private func settle(
        _ writing: inout (batch: Batch, task: Task<PostgresDeviceStore.ImportCounts, any Error>)?,
        _ state: inout State,
        _ headings: [String]
    ) async throws {
        guard let current = writing else { return }
        writing = nil
        var rejects = current.batch.rejects
        let counts: PostgresDeviceStore.ImportCounts
        do {
            counts = try await current.task.value
        } catch let error as StoreError where error.code == .failed && current.batch.rows.count > 1 {
            counts = try await oneByOne(current.batch, &rejects)
        }
        state.checkpoint.created += counts.created
        state.checkpoint.updated += counts.updated
        state.unchanged += counts.unchanged
        state.checkpoint.rejected += rejects.count
        state.checkpoint.offset = current.batch.end
        state.checkpoint.line = current.batch.nextLine
        state.checkpoint.headings = headings
        for row in rejects.sorted(by: { $0.line < $1.line }) { try reject(row) }
        try done(state)
    }

    /// The store refuses some row of the batch: which one is found by trying each.
    private func oneByOne(_ batch: Batch, _ rejects: inout [Reject]) async throws -> PostgresDeviceStore.ImportCounts {
        var counts = PostgresDeviceStore.ImportCounts()
        for index in batch.rows.indices {
            do throws(StoreError) {
                counts += try await target.write([batch.rows[index]])
            } catch {
                // Refused one and all: it is not the rows.
                let isLastHope = index + 1 == batch.rows.count && counts == .init()
                if error.code != .failed || isLastHope { throw error }
                rejects.append(
                    Reject(line: batch.lines[index], reason: "the database refused it", record: batch.records[index])
                )
            }
        }
        return counts
    }
}

/// A file in pieces.
private struct FileChunks: AsyncSequence {
    let source: FileHandle
    let bytes: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        let source: FileHandle
        let bytes: Int

        mutating func next() async throws -> Data? {
            guard let chunk = try source.read(upToCount: bytes), !chunk.isEmpty else { return nil }
            return chunk
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source, bytes: bytes) }
}
