import HTTP2
import NIOConcurrencyHelpers

/// Keeps connections full from inside their reports, and counts what comes back.
///
/// It encodes on the loop's thread, so that one pinned core carries the producer too.
final class Feeder: ConnectionObserver {
    /// What came back.
    struct Counts: Sendable {
        var submitted = 0
        var completed = 0
        var failed = 0
        var statuses: [Int: Int] = [:]
        /// Per request in µs from submission to report, in order of completion.
        var latencies: [UInt32] = []
        var closed: HTTP2Error?
        var openCount = 0
    }

    private struct State: Sendable {
        var counts = Counts()
        var target = 0
        var batch = RequestBatch()
        var startedAt: [ContinuousClock.Instant] = []
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let options: LoadOptions
    private let head: HeaderBlock
    private let body: [UInt8]
    private let state = NIOLockedValueBox(State())

    init(_ options: LoadOptions) throws {
        self.options = options
        head = try HeaderBlock(
            method: "POST",
            authority: "api.push.apple.com",
            fields: [
                (FieldName("apns-topic"), "com.example.shop"), (FieldName("apns-push-type"), "alert"),
                (FieldName("apns-priority"), "10"),
            ]
        )
        body = Feeder.payload(options.bodyBytes)
        state.withLockedValue { $0.startedAt.reserveCapacity(options.requestCount + options.warmUpCount) }
    }

    private static func payload(_ count: Int) -> [UInt8] {
        let start = Array(#"{"aps":{"alert":""#.utf8)
        let end = Array(#""}}"#.utf8)
        return start + [UInt8](repeating: UInt8(ascii: "x"), count: max(0, count - start.count - end.count)) + end
    }

    /// Sends so many requests over the connections and returns what came back when all of them have ended.
    func run(_ count: Int, over connections: [Connection]) async -> Counts {
        state.withLockedValue { state in
            state.target = count
            state.counts = Counts()
            state.startedAt.removeAll(keepingCapacity: true)
        }
        await withCheckedContinuation { continuation in
            state.withLockedValue { $0.waiting = continuation }
            for connection in connections { feed(connection) }
        }
        return state.withLockedValue { $0.counts }
    }

    /// Returns once all are open, or one could not be opened.
    func waitUntilOpen(_ count: Int) async -> HTTP2Error? {
        while true {
            let counts = state.withLockedValue { $0.counts }
            if let closed = counts.closed { return closed }
            if counts.openCount == count { return nil }
            await Task.yield()
        }
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        count(report)
        feed(connection)
    }

    private func count(_ report: borrowing ConnectionReport) {
        let now = ContinuousClock.now
        let completions = report.completions
        let changes = report.changes
        let finished: CheckedContinuation<Void, Never>? = state.withLockedValue { state in
            for completion in completions {
                switch completion.result {
                case .success(let response): state.counts.statuses[response.status, default: 0] += 1
                case .failure: state.counts.failed += 1
                }
                let started = state.startedAt[Int(completion.slot)]
                state.counts.latencies.append(UInt32(clamping: Feeder.microseconds(started.duration(to: now))))
            }
            state.counts.completed += completions.count
            for change in changes {
                if case .opened = change { state.counts.openCount += 1 }
                if case .closed(let error) = change { state.counts.closed = error ?? HTTP2Error(.closed) }
            }
            guard state.target > 0, state.counts.completed == state.target else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        finished?.resume()
    }

    private func feed(_ connection: Connection) {
        let credits = connection.load.credits
        guard credits > 0 else { return }
        state.withLockedValue { state in
            let wanted = min(credits, state.target - state.counts.submitted)
            guard wanted > 0 else { return }
            let now = ContinuousClock.now
            let deadline = now + .seconds(20)
            for _ in 0..<wanted {
                encode(UInt64(state.startedAt.count), deadline, into: &state.batch)
                state.startedAt.append(now)
            }
            let taken = connection.submit(&state.batch)
            state.counts.submitted += taken
            // Only this feeder submits, so the credits cannot have shrunk but by SETTINGS; what is left is given up here.
            state.startedAt.removeLast(wanted - taken)
            state.batch.removeAll()
        }
    }

    private func encode(_ slot: UInt64, _ deadline: ContinuousClock.Instant, into batch: inout RequestBatch) {
        batch.append(slot: slot, head: head, deadline: deadline) { writer in
            if options.isDistinct {
                writer.path("/3/device/")
                writer.path(Feeder.hex(slot &* 0x9E37_79B9_7F4A_7C15, repeated: 4))
                writer.field(Feeder.apnsID, Feeder.uuid(slot))
            } else {
                writer.path(options.path)
            }
            writer.body(body)
        }
    }

    private static let apnsID = FieldName("apns-id", indexing: .nameOnce)
    private static let digits = Array("0123456789abcdef".utf8)

    private static func hex(_ number: UInt64, repeated count: Int) -> [UInt8] {
        [UInt8](bytes: 16 * count) { index in
            digits[Int(truncatingIfNeeded: (number >> UInt64(60 - 4 * (index % 16))) & 15)]
        }
    }

    private static func uuid(_ number: UInt64) -> [UInt8] {
        var text = hex(number &* 0xBF58_476D_1CE4_E5B9, repeated: 2)
        for place in [20, 16, 12, 8] { text.insert(UInt8(ascii: "-"), at: place) }
        return text
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    }
}

extension [UInt8] {
    /// So many bytes, each from its index.
    fileprivate init(bytes count: Int, _ byte: (Int) -> UInt8) {
        self = []
        reserveCapacity(count)
        for index in 0..<count { append(byte(index)) }
    }
}
