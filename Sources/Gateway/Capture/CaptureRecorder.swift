import EngineStore
import FoundationEssentials
import HTTPTypes
import Logging
import Metrics
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// What the recorder asks of the store.
protocol CaptureSink: Sendable {
    /// - Throws: `StoreError`.
    func running() async throws(StoreError) -> [RunningCapture]
    /// 0: the capture is over, nothing was written.
    ///
    /// - Throws: `StoreError`.
    func record(_ exchange: CapturedExchange, in id: UUID, of tenant: TenantID) async throws(StoreError) -> Int
}

extension PostgresCaptureStore: CaptureSink {}

/// Writes the calls of captured bindings beside their answers. While nothing is captured, a call costs one look at an empty table.
///
/// A call never waits for it: what does not fit into the queue is dropped and counted. Masking is done here, behind the answer.
final class CaptureRecorder: Service {
    /// 256 calls and 8 MiB wait at most: a database that is slow must not cost memory.
    static let queueLimit = 256
    static let queueLimitBytes = 8 << 20
    /// Eight bytes: a shorter key stands in anybody's call by chance.
    static let keyLimitBytes = 8

    /// One call as it came, until it is masked.
    struct Item: Sendable {
        var call: VendorRequest
        var vendor: Vendor
        var answer: VendorResponse
        var record: CallRecord

        var size: Int { call.body.count + answer.body.count + call.path.utf8.count + (call.query?.utf8.count ?? 0) }
    }

    private struct State {
        var running: [Vendor: [RunningCapture]] = [:]
        /// Said to be over by the store, while a look from before still has them.
        var over: Set<UUID> = []
        var waitingBytes = 0
    }

    private let sink: any CaptureSink
    private let logger: Logger
    private let state = NIOLockedValueBox(State())
    private let items: AsyncStream<Item>
    private let queue: AsyncStream<Item>.Continuation

    init(sink: any CaptureSink, logger: Logger) {
        self.sink = sink
        self.logger = logger
        (items, queue) = AsyncStream<Item>.makeStream(bufferingPolicy: .bufferingOldest(Self.queueLimit))
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.drain() }
    }

    /// Writes what waits, until the task is canceled.
    func drain() async {
        for await item in items {
            state.withLockedValue { $0.waitingBytes -= item.size }
            await write(item)
        }
    }

    /// Looks which captures run; called every second and when one was told of.
    func refresh() async {
        do throws(StoreError) {
            let found = try await sink.running()
            state.withLockedValue { state in
                state.over.formIntersection(found.map(\.id))
                state.running = Dictionary(grouping: found.filter { !state.over.contains($0.id) }, by: \.vendor)
            }
        } catch {
            logger.debug("cannot read the running captures", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Takes a call that was answered, if somebody captures it. Never waits.
    func offer(_ call: VendorRequest, _ answer: VendorResponse, _ record: CallRecord, vendor: Vendor) {
        let offered = state.withLockedValue { state -> (item: Item, isTaken: Bool)? in
            guard record.isKept, let captures = state.running[vendor] else { return nil }
            if let owner = record.owner {
                guard captures.contains(where: { $0.tenant == owner.tenant && $0.app == owner.app }) else { return nil }
            }
            let item = Item(call: call, vendor: vendor, answer: answer, record: record)
            guard state.waitingBytes + item.size <= Self.queueLimitBytes else { return (item, false) }
            state.waitingBytes += item.size
            return (item, true)
        }
        guard let (item, isTaken) = offered else { return }
        guard isTaken else { return Self.drop() }
        guard case .enqueued = queue.yield(item) else {
            state.withLockedValue { $0.waitingBytes -= item.size }
            return Self.drop()
        }
    }

    private static func drop() { MetricName.capturesDropped.counter().increment() }

    private func write(_ item: Item) async {
        let captures = state.withLockedValue { $0.running[item.vendor] ?? [] }
        guard let capture = Self.capture(of: item, among: captures) else { return }
        do throws(StoreError) {
            let exchange = Self.exchange(item, for: capture)
            if try await sink.record(exchange, in: capture.id, of: capture.tenant) > 0 {
                MetricName.capturedExchanges.counter().increment()
            } else {
                state.withLockedValue { state in
                    state.over.insert(capture.id)
                    state.running[item.vendor]?.removeAll { $0.id == capture.id }
                    if state.running[item.vendor]?.isEmpty == true { state.running[item.vendor] = nil }
                }
            }
        } catch {
            Self.drop()
            logger.debug("cannot write a captured exchange", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Whose a call is: its binding's; of one without, whose key stands in it; where one app alone has the dialect, that one's. When two could be
    /// meant, nobody's: a tenant must not read another's calls.
    static func capture(of item: Item, among captures: [RunningCapture]) -> RunningCapture? {
        if let owner = item.record.owner {
            return captures.first { $0.tenant == owner.tenant && $0.app == owner.app }
        }
        let text = [
            item.call.path, item.call.query ?? "",
            item.call.body.count <= CaptureMask.bodyLimitBytes ? String(decoding: item.call.body, as: UTF8.self) : "",
        ].joined(separator: "\n")
        let host = HTTPField.Name("host").flatMap { item.call.headers[$0] }.map { $0.prefix { $0 != ":" }.lowercased() }
        let named = captures.filter { capture in
            capture.keys.contains { key in
                key.value.utf8.count >= keyLimitBytes && text.contains(key.value)
                    && (key.host == nil || key.host == host)
            }
        }
        if named.count == 1 { return named.first }
        return named.isEmpty && captures.count == 1 ? captures.first(where: \.isSole) : nil
    }

    static func exchange(_ item: Item, for capture: RunningCapture) -> CapturedExchange {
        let mask = CaptureMask(keepsTexts: capture.keepsTexts)
        let (call, answer) = (item.call, item.answer)
        return CapturedExchange(
            at: call.receivedAt,
            route: call.route,
            outcome: item.record.outcome,
            reason: item.record.reason,
            request: CapturedExchange.Request(
                method: String(call.method.rawValue.prefix(16)),
                path: mask.path(call.path),
                query: mask.query(call.query),
                headers: mask.headers(call.headers),
                body: mask.body(call.body, contentType: call.headers[.contentType], limit: capture.bodyLimit),
                bodyBytes: call.body.count
            ),
            answer: CapturedExchange.Answer(
                status: answer.status,
                contentType: mask.contentType(answer.headers[.contentType]),
                body: mask.body(
                    answer.body,
                    contentType: answer.headers[.contentType],
                    limit: capture.bodyLimit
                ),
                bodyBytes: answer.body.count
            )
        )
    }
}
