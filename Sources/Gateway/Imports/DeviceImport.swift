package import Foundation
package import Model
package import Store

/// Reads a file of devices and registers them, batch after batch; flat in the file's size.
///
/// The next batch is read while those before it are written. Two may be written at once, if they share neither key nor token: the set of what is new
/// of one does not touch the other, and what is known waits for its turn, so that of two rows the later counts all the same.
/// A row that cannot be taken goes to `reject` with its reason and stops nothing.
package struct DeviceImport {
    /// Where rows go, and what is written of them.
    package struct Target: Sendable {
        /// Registers a batch, or says what that would do. The second waits until the batches before it are in.
        package var write:
            @Sendable ([DeviceRegistration], _ turn: @Sendable () async throws(StoreError) -> Void)
                async throws(StoreError) -> ImportCounts
        package var identifiers: any IdentifierSource
        /// How many batches may be written at once: as many sessions of the database are kept busy.
        package var batchesAtOnce = 1
        /// The vendor's own names of columns, each with the column that it stands for.
        package var ownColumns: [String: String] = [:]

        package init(
            write:
                @escaping @Sendable (
                    [DeviceRegistration], _ turn: @Sendable () async throws(StoreError) -> Void
                ) async throws(StoreError) -> ImportCounts,
            identifiers: any IdentifierSource,
            batchesAtOnce: Int = 1,
            ownColumns: [String: String] = [:]
        ) {
            self.write = write
            self.identifiers = identifiers
            self.batchesAtOnce = batchesAtOnce
            self.ownColumns = ownColumns
        }
    }

    /// A row that was not taken.
    package struct Reject {
        package var line: Int
        package var reason: String
        package var record: [UInt8]

        /// As a line of the rejects' file.
        package var text: String {
            JSONWriter.text([
                "line": .int(line), "reason": .string(reason),
                "record": .string(String(decoding: record, as: UTF8.self)),
            ])
        }
    }

    /// What is known after a batch.
    package struct State {
        package var checkpoint: ImportCheckpoint
        /// Known before and the same: a preview's.
        package var unchanged = 0
        /// Whether the last batch had new devices only.
        fileprivate var isAllNew = false

        package init(checkpoint: ImportCheckpoint) { self.checkpoint = checkpoint }
    }

    private struct Batch {
        var rows: [DeviceRegistration] = []
        var lines: [Int] = []
        var records: [[UInt8]] = []
        var rejects: [Reject] = []
        /// The keys and tokens that its rows name.
        var keys: Set<VendorDeviceKey?> = []
        var tokens: Set<DeviceToken> = []
        /// Of the records. Unit: bytes.
        var bytes = 0
        /// How much of the file it ends with, and the next line.
        var end = 0
        var nextLine = 1

        mutating func append(_ row: DeviceRegistration, _ record: RecordSplitter.Record, _ bytes: [UInt8]) {
            rows.append(row)
            lines.append(record.line)
            records.append(bytes)
            keys.insert(row.key)
            if let token = row.token { tokens.insert(token) }
        }

        func shares(_ other: Batch) -> Bool {
            !keys.isDisjoint(with: other.keys) || !tokens.isDisjoint(with: other.tokens)
        }
    }

    /// What came of a batch.
    private struct Written: Sendable {
        var counts = ImportCounts()
        /// The places of rows that the store refused.
        var refused: [Int] = []
    }

    private typealias Writing = (batch: Batch, task: Task<Result<Written, StoreError>, Never>)

    /// 4,000 rows per batch: a commit is little of their time, and what a kill repeats is done in a blink.
    package static let batchRows = 4000
    /// 1 MiB of records per batch: rows of 8 KiB each would otherwise be 32 MiB of them, several times.
    private static let batchBytes = 1_048_576
    /// 256 KiB are read at a time: some thousand rows.
    private static let chunkBytes = 262_144

    package let format: DeviceFormat
    package let target: Target
    /// Told of rows that are not taken, before the batch that they stood in is reported.
    package let reject: (Reject) throws -> Void
    /// Told after each batch, when all of it is committed.
    package let done: (State) throws -> Void
    /// Lines up to this one are passed over, headings aside: an earlier import has them.
    package var after = 0
    package var batchRows = Self.batchRows

    package init(
        format: DeviceFormat,
        target: Target,
        reject: @escaping (Reject) throws -> Void,
        done: @escaping (State) throws -> Void,
        after: Int = 0
    ) {
        self.format = format
        self.target = target
        self.reject = reject
        self.done = done
        self.after = after
    }

    /// Imports what the source still has.
    ///
    /// - Parameters:
    ///   - source: open at the checkpoint's offset.
    ///   - start: where to go on.
    /// - Returns: the state at the end.
    /// - Throws: what reading, the store or the callbacks throw; what was reported is committed.
    package func run(_ source: FileHandle, from start: ImportCheckpoint) async throws -> State {
        try await run(FileChunks(source: source, bytes: Self.chunkBytes), from: start)
    }

    /// The same of bytes as they come.
    ///
    /// - Throws: what their sequence, the store or the callbacks throw; what was reported is committed.
    package func run<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        from start: ImportCheckpoint
    ) async throws -> State where Chunks.Element: Sequence<UInt8> {
        var state = State(checkpoint: start)
        var splitter = RecordSplitter(quotes: format == .csv, line: start.line, offset: start.offset)
        var headings = start.headings
        var batch = Batch()
        var writing: [Writing] = []
        func take(_ records: [RecordSplitter.Record]) async throws {
            for record in records {
                try self.take(record, &headings, &batch)
                let isFull = batch.rows.count + batch.rejects.count >= batchRows || batch.bytes >= Self.batchBytes
                guard isFull else { continue }
                // Alone until it is known that the file brings new devices: what is known locks rows in the file's order.
                let width = state.isAllNew ? target.batchesAtOnce : 1
                while let first = writing.first, writing.count >= width || first.batch.shares(batch) {
                    try await settle(&writing, &state, headings)
                }
                begin(batch, &writing)
                batch = Batch()
            }
        }
        do {
            for try await chunk in chunks { try await take(splitter.feed(chunk)) }
            try await take(splitter.finish().map { [$0] } ?? [])
        } catch {
            // What was begun is waited for: its commit is to be reported.
            while !writing.isEmpty { try await settle(&writing, &state, headings) }
            throw error
        }
        if batch.end > 0 {
            while let first = writing.first, first.batch.shares(batch) { try await settle(&writing, &state, headings) }
            begin(batch, &writing)
        }
        while !writing.isEmpty { try await settle(&writing, &state, headings) }
        return state
    }

    private func take(
        _ record: RecordSplitter.Record,
        _ headings: inout [String],
        _ batch: inout Batch
    ) throws(ImportProblem) {
        batch.end = record.end
        batch.nextLine = record.line + 1
        batch.bytes += record.bytes?.count ?? 0
        if record.line <= after, format == .ndjson || !headings.isEmpty { return }
        guard let bytes = record.bytes else {
            let reason = "is longer than \(RecordSplitter.limitBytes) bytes"
            return batch.rejects.append(Reject(line: record.line, reason: reason, record: []))
        }
        if format == .csv, headings.isEmpty {
            headings = try Self.headings(bytes, target.ownColumns)
            return
        }
        do throws(DeviceLine.Fault) {
            let fields =
                switch format {
                case .ndjson: try DeviceLine.renamed(try DeviceLine.fields(json: bytes), target.ownColumns)
                case .csv: try DeviceLine.fields(csv: bytes, headings: headings)
                }
            batch.append(try DeviceLine.registration(fields, target.identifiers), record, bytes)
        } catch {
            batch.rejects.append(Reject(line: record.line, reason: error.reason, record: bytes))
        }
        // Lines inside of quotes count too.
        batch.nextLine = record.line + 1 + bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// The columns that the first line names.
    private static func headings(_ bytes: [UInt8], _ own: [String: String]) throws(ImportProblem) -> [String] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        let names = ((try? CSV.fields(bytes)) ?? []).map { own[$0] ?? $0 }
        let known = (DeviceLine.columns + own.keys.sorted()).joined(separator: ", ")
        if let unknown = names.first(where: { !DeviceLine.columns.contains($0) }) {
            throw ImportProblem(
                "devices import: the first line must name the columns; '\(unknown.prefix(64))' is none of \(known)",
                isUsage: true
            )
        }
        guard Set(names).count == names.count, !names.isEmpty else {
            throw ImportProblem(
                "devices import: the first line must name each column once, of \(known)",
                isUsage: true
            )
        }
        return names
    }

    // MARK: Writing

    private func begin(_ batch: Batch, _ writing: inout [Writing]) {
        let (rows, target, before) = (batch.rows, target, writing.last?.task)
        let task = Task { () -> Result<Written, StoreError> in
            do throws(StoreError) {
                return .success(
                    try await Self.write(rows, to: target) { () async throws(StoreError) in
                        if case .failure(let error)? = await before?.value { throw error }
                    }
                )
            } catch {
                return .failure(error)
            }
        }
        writing.append((batch, task))
    }

    /// Writes a batch. When the store refuses some row of it, which one is found by halves, in order.
    private static func write(
        _ rows: [DeviceRegistration],
        to target: Target,
        turn: @Sendable () async throws(StoreError) -> Void
    ) async throws(StoreError) -> Written {
        var written = Written()
        if rows.isEmpty { return written }
        do throws(StoreError) {
            written.counts = try await target.write(rows, turn)
            return written
        } catch {
            guard error.code == .failed, rows.count > 1 else { throw error }
            try await turn()
            var open = [0..<rows.count / 2, rows.count / 2..<rows.count]
            while !open.isEmpty {
                let part = open.removeFirst()
                do throws(StoreError) {
                    written.counts += try await target.write(Array(rows[part]), {})
                } catch {
                    guard error.code == .failed else { throw error }
                    if part.count == 1 {
                        written.refused.append(part.lowerBound)
                        continue
                    }
                    let middle = part.lowerBound + part.count / 2
                    open.insert(contentsOf: [part.lowerBound..<middle, middle..<part.upperBound], at: 0)
                }
            }
            // Refused one and all: it is not the rows.
            if written.refused.count == rows.count { throw error }
            return written
        }
    }

    /// Waits for the first batch that is being written, and reports it. When it failed, those behind it are waited for too, and not reported.
    private func settle(_ writing: inout [Writing], _ state: inout State, _ headings: [String]) async throws {
        guard !writing.isEmpty else { return }
        let (batch, task) = writing.removeFirst()
        let written: Written
        switch await task.value {
        case .success(let value): written = value
        case .failure(let error):
            for later in writing { _ = await later.task.value }
            writing = []
            throw error
        }
        let refused = written.refused.map {
            Reject(line: batch.lines[$0], reason: "the database refused it", record: batch.records[$0])
        }
        let rejects = (batch.rejects + refused).sorted { $0.line < $1.line }
        state.checkpoint.created += written.counts.created
        state.checkpoint.updated += written.counts.updated
        state.unchanged += written.counts.unchanged
        state.isAllNew = written.counts.created == batch.rows.count
        state.checkpoint.rejected += rejects.count
        state.checkpoint.offset = batch.end
        state.checkpoint.line = batch.nextLine
        state.checkpoint.headings = headings
        for row in rejects { try reject(row) }
        try done(state)
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
