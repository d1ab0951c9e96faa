package import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Sends finished spans to a collector. A `Service`: a shutdown sends what waits, within the time of one call.
///
/// A span costs its caller a lock and no I/O, whatever the collector does: above the bound of the queue it is dropped and counted (`ExportMachine`).
package final class SpanExporter: Service {
    /// Sends one body, and returns the collector's answer.
    package typealias Send = @Sendable ([UInt8]) async -> ExportMachine<SpanRecord>.Answer
    /// Counts spans: by how they ended.
    package typealias Count = @Sendable (_ end: End, _ spans: Int) -> Void

    /// How a span ended. The raw value labels the metric.
    package enum End: String, Sendable, CaseIterable {
        /// The collector has it.
        case exported
        /// The queue was full.
        case overflow
        /// The collector was not reached, or could not take it, twice.
        case failed
        /// The collector refused it.
        case rejected
    }

    /// How often due batches are looked for.
    private static var tick: Duration { .milliseconds(250) }

    private let machine = NIOLockedValueBox(ExportMachine<SpanRecord>())
    private let export: TraceExport
    private let send: Send
    private let count: Count
    private let logger: Logger
    private let start = ContinuousClock.now
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - export: writes the bodies.
    ///   - send: sends one, within its own time limit.
    ///   - count: counts the spans.
    ///   - logger: receives one line when calls begin to fail, and one when they succeed again.
    package init(_ export: TraceExport, send: @escaping Send, count: @escaping Count, logger: Logger) {
        self.export = export
        self.send = send
        self.count = count
        self.logger = logger
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    private var now: Duration { ContinuousClock.now - start }

    /// Takes a finished span. Never waits.
    package func ended(_ span: SpanRecord) {
        let now = now
        switch machine.withLockedValue({ $0.ended(span, at: now) }) {
        case .dropped: count(.overflow, 1)
        case .full: signal.yield()
        case .queued: break
        }
    }

    package func run() async throws {
        await withGracefulShutdownHandler {
            await work()
        } onGracefulShutdown: {
            self.machine.withLockedValue { $0.stop() }
            self.signal.yield()
        }
    }

    private func work() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: Self.tick)
                    self.signal.yield()
                }
            }
            var isFailing = false
            for await _ in signals {
                if await sendDue(&isFailing) { break }
            }
            group.cancelAll()
        }
    }

    /// Sends all batches that are due. True: none follows.
    private func sendDue(_ isFailing: inout Bool) async -> Bool {
        while !Task.isCancelled {
            let now = now
            switch machine.withLockedValue({ $0.next(at: now) }) {
            case .finish: return true
            case .wait: return false
            case .send(let spans):
                let answer = await send(export.body(of: spans))
                let time = self.now
                report(machine.withLockedValue { $0.answered(answer, at: time) })
                note(answer, &isFailing)
            }
        }
        return true
    }

    private func note(_ answer: ExportMachine<SpanRecord>.Answer, _ isFailing: inout Bool) {
        if case .accepted = answer {
            if isFailing { logger.notice("the collector of traces accepts spans again") }
            isFailing = false
        } else {
            if !isFailing { logger.warning("the collector of traces does not accept spans") }
            isFailing = true
        }
    }

    private func report(_ result: ExportMachine<SpanRecord>.Result) {
        if result.exported > 0 { count(.exported, result.exported) }
        if result.rejected > 0 { count(.rejected, result.rejected) }
        if result.failed > 0 { count(.failed, result.failed) }
    }
}
