package import Commands
import Crypto
package import EngineStore
import Foundation
package import Model
import NIOConcurrencyHelpers
package import NIOCore
package import Store

/// Imports by `POST /v1/apps/{app}/imports`: a body of any length, taken in batches as it comes and never held.
package struct DeviceImports: Sendable {
    /// 256 MiB a call: some two million rows. A longer list comes in several calls, so that one cannot hold a connection for hours.
    package static let bodyLimitBytes = 256 << 20
    /// Fifteen minutes a call, for the same reason; who sends nothing for a minute is cut off by the listener.
    package static let timeLimit = Duration.seconds(900)
    /// Two at a time on a node: each keeps a session of the database busy, and the calls of the apps need the others.
    package static let concurrentLimit = 2
    /// 100 rejected rows are told one by one; all are counted. The answer must not grow with the file.
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

    /// What is asked of an import.
    package struct Request: Sendable {
        package var tenant: TenantID
        package var scope: AppScope
        package var format: DeviceFormat
        package var isDryRun: Bool
        /// Lines up to this one are passed over: an earlier call has committed them.
        package var after: Int
        package var actor: AuditActor
        /// A repeat key, without the digest that the body completes.
        package var repeatKey: String?
        /// What the digest begins with.
        package var head: String

        package init(
            tenant: TenantID,
            scope: AppScope,
            format: DeviceFormat,
            isDryRun: Bool,
            after: Int,
            actor: AuditActor,
            repeatKey: String?,
            head: String
        ) {
            self.tenant = tenant
            self.scope = scope
            self.format = format
            self.isDryRun = isDryRun
            self.after = after
            self.actor = actor
            self.repeatKey = repeatKey
            self.head = head
        }
    }

    /// How far an import has come. All of it is committed.
    package struct Progress: Sendable {
        package var state: DeviceImport.State
        package var rejects: [(line: Int, reason: String)] = []
        /// The last line that is done.
        package var line: Int { max(0, state.checkpoint.line - 1) }
    }

    /// Why an import ended early; what was committed stays.
    package enum Failure: Error {
        case tooLarge, tooSlow, broken
        /// The first line does not name known columns.
        case headings(String)
        case store(StoreError)
    }

    /// What came of an import.
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

    /// Imports a body. The first batch notes in the audit that it began, the end notes the counts; a repeat key is kept with the end.
    /// `answer` makes the answer of an import that ended.
    package func run<Body: AsyncSequence & Sendable>(
        _ request: Request,
        body: Body,
        answer: @Sendable (Report) -> KeptAnswer
    ) async -> Outcome where Body.Element == ByteBuffer {
        let meter = BodyMeter(head: request.head)
        var progress = Progress(state: DeviceImport.State(checkpoint: ImportCheckpoint(sourceBytes: 0)))
        let work = DeviceImport(
            format: request.format,
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
                // Nothing of it is taken: it only has to be the same.
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
            let (counts, rejected) = (progress.state.checkpoint.counts, progress.state.checkpoint.rejected)
            let kept = try await handler.run(
                ImportRules.end(counts, rejected: rejected, request.scope, by: request.actor),
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
        return DeviceImport.Target(
            write: { rows, turn async throws(StoreError) in
                if request.isDryRun {
                    let preview = ImportRules.preview(rows, request.scope)
                    return try await handler.run(preview, in: request.tenant, pauses: pauses)
                }
                let actor = isFirst.withLockedValue { $0 } ? request.actor : nil
                let counts = try await handler.importDevices(
                    rows,
                    request.scope,
                    in: request.tenant,
                    .init(at: clock.now(), begunBy: actor, pauses: pauses),
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

    /// What is written about an import.
    package struct Report: Sendable {
        package var progress: Progress
        package var isDryRun: Bool

        package init(progress: Progress, isDryRun: Bool) {
            self.progress = progress
            self.isDryRun = isDryRun
        }
    }
}

/// Counts, times and digests a body on its way. One task's.
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

    /// Of the head and all that passed, as `sha256` of an `IdentifierSource`.
    func digest() -> String { HexCoding.encode(hash.finalize()) }
}

/// A body that goes through a meter.
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
