import DeviceFiles
package import Foundation
package import Model
package import Store

/// Reads a file of devices and registers them in batches, in constant memory.
///
/// The next batch is read while earlier batches are written. Two batches may be written at once if they share neither a key nor a token: the new devices of one
/// do not affect the other. Known devices wait for the earlier batches, so that of two rows for one device the later row still wins. A row that cannot be
/// registered goes to `reject` with its reason and does not stop the import.
package struct DeviceImport {
    /// The store's side of an import.
    package struct Target: Sendable {
        /// Registers a batch, or previews its effect. The second argument waits until the earlier batches are committed.
        package var write:
            @Sendable ([DeviceRegistration], _ turn: @Sendable () async throws(StoreError) -> Void)
                async throws(StoreError) -> ImportCounts
        package var identifiers: any IdentifierSource
        /// The maximum number of concurrent batches; each uses one session of the database.
        package var batchesAtOnce = 1
        /// The vendor's own column names, each with the standard column that it corresponds to.
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

    /// A rejected row.
    package struct Reject {
        package var line: Int
        package var reason: String
        package var record: [UInt8]

        /// The text of the reject as a line of the rejects file.
        package var text: String {
            JSONWriter.text([
                "line": .int(line), "reason": .string(reason),
                "record": .string(String(decoding: record, as: UTF8.self)),
            ])
        }
    }

    /// The progress after a batch.
    package struct State {
        package var checkpoint: ImportCheckpoint
        /// Whether the last batch contained only new devices.
        fileprivate var isAllNew = false

        package init(checkpoint: ImportCheckpoint) { self.checkpoint = checkpoint }
    }

    private struct Batch {
        var rows: [DeviceRegistration] = []
        var lines: [Int] = []
        var records: [[UInt8]] = []
        var rejects: [Reject] = []
        /// The keys and tokens of its rows.
        var keys: Set<VendorDeviceKey?> = []
        var tokens: Set<DeviceToken> = []
        /// The size of the records. Unit: bytes.
        var bytes = 0
        /// The offset in the file after the batch, and the number of the next line.
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

    /// The result of a batch.
    private struct Written: Sendable {
        var counts = ImportCounts()
        /// The indexes of the rows that the store refused.
        var refused: [Int] = []
    }

    private typealias Writing = (batch: Batch, task: Task<Result<Written, StoreError>, Never>)

    /// 4,000 rows per batch: a commit takes a small part of their time, and the batches that a killed import repeats take little time.
    package static let batchRows = 4000
    /// 1 MiB of records per batch: 4,000 rows of 8 KiB would be 32 MiB, held several times.
    private static let batchBytes = 1_048_576

    package let reading: DeviceReading
    package let target: Target
    /// Receives the rejected rows of a batch before the batch is reported.
    package let reject: (Reject) throws -> Void
    /// Receives the progress after each batch, when the whole batch is committed.
    package let done: (State) throws -> Void
    /// Lines up to this one are skipped, except for the headings: an earlier import has committed them.
    package var after = 0
    package var batchRows = Self.batchRows

    package init(
        _ reading: DeviceReading,
        target: Target,
        reject: @escaping (Reject) throws -> Void,
        done: @escaping (State) throws -> Void,
        after: Int = 0
    ) {
        self.reading = reading
        self.target = target
        self.reject = reject
        self.done = done
        self.after = after
    }

    /// Imports the rest of the source.
    ///
    /// - Parameters:
    ///   - source: a file.
    ///   - start: where to continue.
    /// - Returns: the state at the end.
    /// - Throws: the error of reading, of the store or of a callback; reported batches are committed.
    package func run(_ source: FileHandle, from start: ImportCheckpoint) async throws -> State {
        try await run(try DeviceChunks(source, at: start.offset), from: start)
    }

    /// Imports a sequence of byte chunks.
    ///
    /// - Throws: the error of the sequence, of the store or of a callback; reported batches are committed.
    package func run<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        from start: ImportCheckpoint
    ) async throws -> State where Chunks.Element: Sequence<UInt8> {
        var state = State(checkpoint: start)
        var splitter = reading.splitter(line: start.line, offset: start.offset)
        var headings = start.headings
        var batch = Batch()
        var writing: [Writing] = []
        var lastLine = start.line - 1
        func take(_ records: [RecordSplitter.Record]) async throws {
            for record in records {
                lastLine = record.line
                try self.take(record, &headings, &batch)
                let isFull = batch.rows.count + batch.rejects.count >= batchRows || batch.bytes >= Self.batchBytes
                guard isFull else { continue }
                // One batch at a time until the file proves to contain new devices: registering known devices locks rows in the file's order.
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
            // Wait for the batches in progress: their commits must be reported.
            while !writing.isEmpty { try await settle(&writing, &state, headings) }
            guard let fault = error as? GzipInflater.Fault else { throw error }
            let committed = state.checkpoint.line - 1
            throw ImportProblem(
                "devices import: the file \(fault.reason), after line \(lastLine); lines up to \(committed) were processed"
            )
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
        if record.line <= after, !reading.hasHeadings || !headings.isEmpty { return }
        guard var bytes = record.bytes else {
            let reason = "is longer than \(reading.splitter(line: 1, offset: 0).limitBytes) bytes"
            return batch.rejects.append(Reject(line: record.line, reason: reason, record: []))
        }
        if record.line == 1 { bytes = try Self.beginning(bytes) }
        if reading.hasHeadings, headings.isEmpty {
            headings = try reading.headings(bytes, target.ownColumns)
            return
        }
        do throws(DeviceLine.Fault) {
            let (own, identifiers) = (target.ownColumns, target.identifiers)
            for device in try reading.devices(bytes, headings: headings, own, identifiers) {
                batch.append(device, record, bytes)
            }
        } catch {
            batch.rejects.append(Reject(line: record.line, reason: error.reason, record: bytes))
        }
        // Count the line breaks inside quotes as well.
        batch.nextLine = record.line + 1 + bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// The first record without a byte order mark.
    ///
    /// - Throws: `ImportProblem` for a file that is not text in UTF-8.
    private static func beginning(_ bytes: [UInt8]) throws(ImportProblem) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw ImportProblem("devices import: line 1: the file is UTF-16; convert it to UTF-8", isUsage: true)
        }
        if bytes.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            throw ImportProblem("devices import: line 1: the file is a ZIP archive; unpack it first", isUsage: true)
        }
        return bytes
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

    /// Writes a batch. When the store refuses it, bisection finds the refused rows, in order.
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
            // The store refused every row, so that the cause is not a row.
            if written.refused.count == rows.count { throw error }
            return written
        }
    }

    /// Waits for the first batch in progress and reports it. When it failed, the later batches are awaited as well, but not reported.
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
            Reject(line: batch.lines[$0], reason: "the database refused the row", record: batch.records[$0])
        }
        let rejects = (batch.rejects + refused).sorted { $0.line < $1.line }
        state.checkpoint.created += written.counts.created
        state.checkpoint.updated += written.counts.updated
        state.checkpoint.unchanged += written.counts.unchanged
        state.checkpoint.older += written.counts.older
        state.isAllNew = written.counts.created == batch.rows.count
        state.checkpoint.rejected += rejects.count
        state.checkpoint.optOuts += batch.rows.count(where: \.imported.isOptOut)
        state.checkpoint.consents += batch.rows.count {
            $0.imported.acceptsPush != nil || !$0.imported.consents.isEmpty
        }
        state.checkpoint.offset = batch.end
        state.checkpoint.line = batch.nextLine
        state.checkpoint.headings = headings
        for row in rejects { try reject(row) }
        try done(state)
    }
}

extension ImportedFacts {
    /// Whether the user does not want pushes, or has withdrawn a consent.
    fileprivate var isOptOut: Bool { acceptsPush == false || consents.contains { $0.state == .unsubscribed } }
}
