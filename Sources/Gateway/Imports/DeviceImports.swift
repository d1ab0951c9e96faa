package import Commands
import Crypto
package import EngineStore
import Foundation
package import Model
import NIOConcurrencyHelpers
package import NIOCore
package import Store

/// Imports devices by `POST /v1/apps/{app}/imports`. The body may be long: it is processed in batches as it arrives and never held as a whole.
package struct DeviceImports: Sendable {
    /// 256 MiB per call: some two million rows. A longer list needs several calls, so that no call holds a connection for hours.
    package static let bodyLimitBytes = 256 << 20
    /// Fifteen minutes per call, for the same reason. The listener closes a connection that sends nothing for a minute.
    package static let timeLimit = Duration.seconds(900)
    /// Two imports at once on a node: each occupies a session of the database, and the calls of the apps need the others.
    package static let concurrentLimit = 2
    /// The first 100 rejected rows are listed; all are counted. The size of the answer must not grow with the file.
    package static let listedRejects = 100

    package let handler: CommandHandler
    package let maintenance: PostgresMaintenance
    package let identifiers: any IdentifierSource
    package let clock: any WallClock
    private let running = NIOLockedValueBox(0)

    package init(
        handler: CommandHandler,
        maintenance: PostgresMaintenance,
        identifiers: any IdentifierSource,
        clock: any WallClock
    ) {
        self.handler = handler
        self.maintenance = maintenance
        self.identifiers = identifiers
        self.clock = clock
    }

    /// The parameters of an import.
    package struct Request: Sendable {
        package var tenant: TenantID
        package var scope: AppScope
        package var format: DeviceFormat
        package var isDryRun: Bool
        /// When the body was made. Later changes here stay. Nil: the body is newer than everything.
        package var asOf: Timestamp?
        /// Lines up to this one are skipped: an earlier call has committed them.
        package var after: Int
        package var actor: AuditActor
        /// The idempotency key, without the digest, which is complete only after the body.
        package var repeatKey: String?
        /// The first part of the digested text.
        package var head: String

        package init(
            tenant: TenantID,
            scope: AppScope,
            format: DeviceFormat,
            isDryRun: Bool,
            asOf: Timestamp? = nil,
            after: Int,
            actor: AuditActor,
            repeatKey: String?,
            head: String
        ) {
            self.tenant = tenant
            self.scope = scope
            self.format = format
            self.isDryRun = isDryRun
            self.asOf = asOf
            self.after = after
            self.actor = actor
            self.repeatKey = repeatKey
            self.head = head
        }
    }

    /// The progress of an import. The counted rows are committed.
    package struct Progress: Sendable {
        package var state: DeviceImport.State
        package var rejects: [(line: Int, reason: String)] = []
        /// The last processed line.
        package var line: Int { max(0, state.checkpoint.line - 1) }
    }

    /// The reason why an import ended early; committed batches stay.
    package enum Failure: Error {
        case tooLarge, tooSlow, broken
        /// The first line contains an unknown column name.
        case headings(String)
        case store(StoreError)
    }

    /// The result of an import.
    package enum Outcome: Sendable {
        case done(KeptAnswer)
        case mismatch
        case failed(Failure, Progress)
    }

    /// Permits one import; nil when `concurrentLimit` imports run.
    package func acquire() -> Permit? {
        let isFree = running.withLockedValue { running in
            guard running < Self.concurrentLimit else { return false }
            running += 1
            return true
        }
        return isFree ? Permit(running) : nil
    }

    /// Permits one import until it is released.
    package final class Permit: Sendable {
        private let running: NIOLockedValueBox<Int>
        fileprivate init(_ running: NIOLockedValueBox<Int>) { self.running = running }
        deinit { running.withLockedValue { $0 -= 1 } }
    }

    /// Whether the tenant has the app.
    ///
    /// - Throws: `StoreError`.
    package func knows(_ scope: AppScope, in tenant: TenantID) async throws(StoreError) -> Bool {
        try await handler.run(StoreRequest(FindApp(scope)) { $0 != nil }, in: tenant)
    }

    /// Imports a body. The first batch writes an audit entry for the start, and the end writes one with the counts. The end also stores the answer under the
    /// idempotency key. `answer` creates the answer of a completed import.
    package func run<Body: AsyncSequence & Sendable>(
        _ request: Request,
        body: Body,
        answer: @Sendable (Report) -> KeptAnswer
    ) async -> Outcome where Body.Element == ByteBuffer {
        let meter = BodyMeter(head: request.head)
        var progress = Progress(state: DeviceImport.State(checkpoint: ImportCheckpoint(sourceBytes: 0)))
        let work = DeviceImport(
            .columns(request.format),
            target: target(request),
            reject: { reject in
                guard progress.rejects.count < Self.listedRejects else { return }
                progress.rejects.append((reject.line, reject.reason))
            },
            done: { progress.state = $0 },
            after: request.after
        )
        let metered = MeteredBody(base: body, meter: meter)
        do {
            if let key = request.repeatKey, let first = try await kept(under: key, in: request.tenant) {
                // Read the body only for its digest, which must equal that of the first call.
                for try await _ in metered {}
                return first.bodyHash == meter.digest() ? .done(first.answer) : .mismatch
            }
            progress.state = try await work.run(metered, from: progress.state.checkpoint)
        } catch let failure as Failure {
            return .failed(failure, progress)
        } catch let error as StoreError {
            return .failed(.store(error), progress)
        } catch let problem as ImportProblem {
            return .failed(.headings(problem.description), progress)
        } catch {
            return .failed(.broken, progress)
        }
        let report = Report(progress: progress, isDryRun: request.isDryRun)
        return await end(request, progress, meter, answer(report))
    }

    private func end(
        _ request: Request,
        _ progress: Progress,
        _ meter: BodyMeter,
        _ answer: KeptAnswer
    ) async -> Outcome {
        guard !request.isDryRun else { return .done(answer) }
        let key = request.repeatKey.map { IdempotencyKey(key: $0, bodyHash: meter.digest()) }
        do throws(StoreError) {
            let checkpoint = progress.state.checkpoint
            let kept = try await handler.run(
                ImportRules.end(
                    checkpoint.counts,
                    rejected: checkpoint.rejected,
                    optOuts: checkpoint.optOuts,
                    consents: checkpoint.consents,
                    request.scope,
                    by: request.actor
                ),
                in: request.tenant,
                keeping: key.map { key in Keep<Void>(key) { (_: Void) in answer } }
            )
            switch kept {
            case .done, .tooLarge: return .done(answer)
            case .repeated(let first): return .done(first)
            case .mismatch: return .mismatch
            }
        } catch {
            return .failed(.store(error), progress)
        }
    }

    private func kept(
        under key: String,
        in tenant: TenantID
    ) async throws(StoreError) -> FindKeptAnswer.Found? {
        try await handler.run(StoreRequest(FindKeptAnswer(key)) { $0 }, in: tenant)
    }

    private func target(_ request: Request) -> DeviceImport.Target {
        let statistics = ImportStatistics(maintenance)
        let isFirst = NIOLockedValueBox(true)
        let pauses = [1, 2]
        let source = "import/\(identifiers.uuid(at: clock.now()).uuidString.lowercased())"
        return DeviceImport.Target(
            write: { rows, turn async throws(StoreError) in
                if request.isDryRun {
                    let preview = ImportRules.preview(rows, request.scope, asOf: request.asOf)
                    return try await handler.run(preview, in: request.tenant, pauses: pauses)
                }
                let actor = isFirst.withLockedValue { $0 } ? request.actor : nil
                let counts = try await handler.importDevices(
                    rows,
                    request.scope,
                    in: request.tenant,
                    .init(at: clock.now(), asOf: request.asOf, source: source, begunBy: actor, pauses: pauses),
                    turn: turn
                )
                isFirst.withLockedValue { $0 = false }
                try await statistics.imported(rows.count)
                return counts
            },
            identifiers: identifiers,
            ownColumns: DeviceLine.ownColumns(of: request.scope.vendor)
        )
    }

    /// The content of the answer about an import.
    package struct Report: Sendable {
        package var progress: Progress
        package var isDryRun: Bool

        package init(progress: Progress, isDryRun: Bool) {
            self.progress = progress
            self.isDryRun = isDryRun
        }
    }
}

/// Counts, times and digests a body while it is read. Used by one task only.
private final class BodyMeter {
    private let end = ContinuousClock.now + DeviceImports.timeLimit
    private var bytes = 0
    private var hash = SHA256()

    init(head: String) { hash.update(data: Array(head.utf8)) }

    func pass(_ buffer: ByteBuffer) throws(DeviceImports.Failure) {
        bytes += buffer.readableBytes
        guard bytes <= DeviceImports.bodyLimitBytes else { throw .tooLarge }
        guard ContinuousClock.now < end else { throw .tooSlow }
        hash.update(data: Array(buffer.readableBytesView))
    }

    /// The digest of the head and of all bytes read, like `sha256` of an `IdentifierSource`.
    func digest() -> String { HexCoding.encode(hash.finalize()) }
}

/// A body that passes through a meter.
private struct MeteredBody<Base: AsyncSequence>: AsyncSequence where Base.Element == ByteBuffer {
    let base: Base
    let meter: BodyMeter

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let meter: BodyMeter

        mutating func next() async throws -> ByteBufferView? {
            guard let buffer = try await base.next() else { return nil }
            try meter.pass(buffer)
            return buffer.readableBytesView
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator(), meter: meter) }
}
