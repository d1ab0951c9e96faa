import EngineStore
import FoundationEssentials
import GatewayHTTP
import HTTPTypes
import Logging
import Metrics
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// The part of the store that the recorder uses.
protocol CaptureSink: Sendable {
    /// - Throws: `StoreError`.
    func running() async throws(StoreError) -> [RunningCapture]
    /// Records an exchange. Returns 0 when the capture has ended and nothing was written.
    ///
    /// - Throws: `StoreError`.
    func record(_ exchange: CapturedExchange, in id: UUID, of tenant: TenantID) async throws(StoreError) -> Int
}

extension PostgresCaptureStore: CaptureSink {}

/// Records the calls of captured bindings. While no capture runs, a call costs one check of an empty table.
///
/// A call never waits for the recorder: when the queue is full, the exchange is dropped and counted. Masking happens here, after the answer is sent.
final class CaptureRecorder: Service {
    /// At most 256 calls and 8 MiB wait: a slow database must not exhaust the memory.
    static let queueLimit = 256
    static let queueLimitBytes = 8 << 20
    /// Eight bytes: a shorter key may occur by chance in an unrelated call.
    static let keyLimitBytes = 8

    /// One unmasked call in the queue.
    struct Item: Sendable {
        var call: VendorRequest
        var vendor: Vendor
        var answer: VendorResponse
        var record: CallRecord

        var size: Int { call.body.count + answer.body.count + call.path.utf8.count + (call.query?.utf8.count ?? 0) }
    }

    private struct State {
        var running: [Vendor: [RunningCapture]] = [:]
        /// Captures that the store reported as ended while an older refresh still contains them.
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

    /// Writes the queued calls until the task is canceled.
    func drain() async {
        for await item in items {
            state.withLockedValue { $0.waitingBytes -= item.size }
            await write(item)
        }
    }

    /// Reads the running captures; called every second and after each notification of a change.
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

    /// Queues an answered call if a running capture applies to it. Never waits.
    func offer(_ call: VendorRequest, _ answer: VendorResponse, _ record: CallRecord, vendor: Vendor) {
        let offered = state.withLockedValue { state -> (item: Item, isTaken: Bool)? in
            guard record.isKept, let captures = state.running[vendor] else { return nil }
            if let owner = record.owner {
                guard captures.contains(where: { $0.tenant == owner.tenant && $0.app == owner.app }) else { return nil }
            }
            let item = Item(call: call.unread, vendor: vendor, answer: answer, record: record)
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

    /// Whether a running capture may apply to a call.
    func isWanted(_ record: CallRecord, vendor: Vendor) -> Bool {
        state.withLockedValue { state in
            guard record.isKept, let captures = state.running[vendor] else { return false }
            guard let owner = record.owner else { return true }
            return captures.contains { $0.tenant == owner.tenant && $0.app == owner.app }
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

    /// Finds the capture that a call belongs to: that of its binding; without a binding, that of the app whose key occurs in the call; otherwise that of the
    /// only app that uses the dialect. When two apps are possible, the call is not captured: a tenant must not read another tenant's calls.
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
