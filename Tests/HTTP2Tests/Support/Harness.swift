import HTTP2
import NIOConcurrencyHelpers

/// A connection on its own loop, with an observer that passes every report to the test.
final class Harness: ConnectionObserver {
    private struct State {
        var outcomes: [UInt64: [String]] = [:]
        var changes: [ConnectionChange] = []
        var reportCount = 0
        /// Submitted by the observer itself when the connection opens.
        var first: RequestBatch?
        /// By the number of the wait.
        var waiting: [Int: Waiter] = [:]
        var waitCount = 0
    }

    private struct Waiter {
        var isTrue: @Sendable (borrowing Harness.Seen) -> Bool
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// The reports so far.
    struct Seen {
        /// Outcomes as text, by slot. More than one per slot is an error.
        var outcomes: [UInt64: [String]]
        var changes: [ConnectionChange]
        var reportCount: Int
        var isClosed: Bool {
            changes.contains { if case .closed = $0 { true } else { false } }
        }
        var closeCount: Int {
            changes.count { if case .closed = $0 { true } else { false } }
        }
        /// The reported GOAWAYs, in order.
        var goAways: [GoAway] {
            changes.compactMap { if case .goAway(let goAway) = $0 { goAway } else { nil } }
        }
        var closeError: HTTP2Error? {
            for case .closed(let error) in changes { return error }
            return nil
        }
    }

    private let state = NIOLockedValueBox(State())
    let loop: EventLoop
    let head: HeaderBlock

    init() throws {
        loop = try EventLoop(name: "test")
        head = try HeaderBlock(method: "POST", authority: "localhost")
    }

    deinit { loop.shutdown() }

    /// Creates and opens the connection, and returns when it is open or closed.
    ///
    /// - Throws: `CancellationError` when the task is canceled before.
    func open(_ configuration: ConnectionConfiguration) async throws -> Connection {
        let connection = Connection(configuration, loop: loop, observer: self)
        connection.open()
        try await wait { $0.changes.contains(.opened) || $0.isClosed }
        return connection
    }

    /// Opens it with requests that are submitted on its loop when it opens. So they precede any deadline of the connection,
    /// however late the test's task is.
    ///
    /// - Throws: `CancellationError` when the task is canceled before it is open or closed.
    func open(_ configuration: ConnectionConfiguration, sending batch: RequestBatch) async throws -> Connection {
        state.withLockedValue { $0.first = batch }
        return try await open(configuration)
    }

    func batch(_ slots: some Sequence<UInt64>, path: String = "/ok", timeout: Duration = .seconds(20)) -> RequestBatch {
        var batch = RequestBatch()
        for slot in slots {
            batch.append(slot: slot, head: head, deadline: .now + timeout) { writer in
                writer.path(path)
                writer.body(Array("{\"slot\":\(slot)}".utf8))
            }
        }
        return batch
    }

    var seen: Seen { state.withLockedValue { Harness.seen($0) } }

    /// Returns when the condition holds for the reports.
    ///
    /// - Throws: `CancellationError` when the task is canceled before, for example at the time limit of its test.
    func wait(until isTrue: @escaping @Sendable (borrowing Seen) -> Bool) async throws {
        let number = state.withLockedValue { state in
            state.waitCount += 1
            return state.waitCount
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLockedValue { state -> Result<Void, any Error>? in
                    if isTrue(Harness.seen(state)) { return .success(()) }
                    // The handler may have run already; it finds a wait only when it is in the table.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = Waiter(isTrue: isTrue, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { $0.waiting.removeValue(forKey: number) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        if report.changes.contains(.opened), var first = state.withLockedValue({ $0.first }) {
            _ = connection.submit(&first)
        }
        let completions = report.completions
        let changes = report.changes
        let ready = state.withLockedValue { state in
            state.reportCount += 1
            state.changes += changes
            for completion in completions {
                state.outcomes[completion.slot, default: []].append(describe(completion.result))
            }
            let seen = Harness.seen(state)
            let ready = state.waiting.filter { $0.value.isTrue(seen) }
            for number in ready.keys { state.waiting[number] = nil }
            return ready
        }
        for waiter in ready.values { waiter.continuation.resume() }
    }

    private static func seen(_ state: State) -> Seen {
        Seen(outcomes: state.outcomes, changes: state.changes, reportCount: state.reportCount)
    }
}
