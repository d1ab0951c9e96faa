internal import HTTP2
internal import NIOConcurrencyHelpers

/// One connection for rare calls. It is dialled when a call needs it, and again after it has closed.
///
/// A `ChannelClient` creates and holds one per host. Callers: any thread; the lock is never held while waiting. Calls that exceed the connection's capacity
/// wait for it; each gives up at its own deadline or when its task is cancelled.
final class ChannelLink: ConnectionObserver {
    private struct State {
        var connection: Connection?
        /// Counts the changes that may let a waiting call continue, so that no call misses one.
        var changeCount: UInt64 = 0
        /// Why the last dial failed, and the `changeCount` at that time.
        var failure: (error: HTTP2Error, at: UInt64)?
        var waiting: [AsyncStream<Void>.Continuation] = []
        var isClosed = false
    }

    private let configuration: ConnectionConfiguration
    private let loop: EventLoop
    private let state = NIOLockedValueBox(State())

    init(_ configuration: ConnectionConfiguration, loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    /// Sends a request and waits for the answer.
    ///
    /// A call that was certainly not processed is sent again on another connection, up to three times.
    ///
    /// - Throws: the reason why no answer came; `isUnsent` is true if the call was certainly not processed.
    func answer(to request: Request) async throws(HTTP2Error) -> Response {
        let deadline = ContinuousClock.now + request.timeout
        var resends = 0
        while true {
            guard !Task.isCancelled else { throw HTTP2Error(.canceled, isUnsent: true) }
            guard ContinuousClock.now < deadline else { throw HTTP2Error(.deadlineExceeded, isUnsent: true) }
            let (connection, seen) = try current()
            do throws(HTTP2Error) {
                return try await connection.send(request)
            } catch {
                if error.code == .noCapacity {
                    try await change(after: seen, deadline)
                } else {
                    guard error.isUnsent, error.isRetriable, resends < Self.maxResends else { throw error }
                    resends += 1
                    drop(connection)
                }
            }
        }
    }

    /// 3, as for pushes (`APNsLimits.maxResends`): a peer that refuses everything must not cause a busy loop.
    private static let maxResends = 3

    /// 256 calls may wait for one connection; above it callers must slow down, because each waiting call holds its payload.
    private static let maxWaitingCalls = 256

    /// Lets the connection finish its requests; the next call dials.
    func drop(_ connection: Connection? = nil) {
        let dropped: Connection? = state.withLockedValue { state in
            guard let current = state.connection, connection == nil || current === connection else { return nil }
            state.connection = nil
            return current
        }
        dropped?.close()
    }

    /// Closes the link: calls in progress finish, new ones are refused.
    func close() {
        state.withLockedValue { $0.isClosed = true }
        drop()
        announce { _ in }
    }

    private func current() throws(HTTP2Error) -> (Connection, UInt64) {
        var isNew = false
        let found: (Connection, UInt64)? = state.withLockedValue { state in
            guard !state.isClosed else { return nil }
            if let connection = state.connection { return (connection, state.changeCount) }
            isNew = true
            let connection = Connection(configuration, loop: loop, observer: self)
            state.connection = connection
            return (connection, state.changeCount)
        }
        guard let found else { throw HTTP2Error(.closed, isUnsent: true) }
        if isNew { found.0.open() }
        return found
    }

    /// Returns after the next change, or at once if there was one since `seen`.
    private func change(after seen: UInt64, _ deadline: ContinuousClock.Instant) async throws(HTTP2Error) {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let isFull = state.withLockedValue { state in
            if state.changeCount != seen {
                continuation.finish()
                return false
            }
            state.waiting.removeAll { $0.isFinished }
            guard state.waiting.count < Self.maxWaitingCalls else { return true }
            state.waiting.append(continuation)
            return false
        }
        guard !isFull else { throw HTTP2Error(.noCapacity, isUnsent: true) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            // Cancelled when the other task is done.
            group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
        if let failure = state.withLockedValue({ $0.failure }), failure.at > seen { throw failure.error.unsent }
    }

    private func announce(_ change: (inout State) -> Void) {
        let waiting = state.withLockedValue { state in
            state.changeCount += 1
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    // MARK: Reports of the connection, on its loop

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        let changes = report.changes
        let hasRoom = report.credits > 0
        var isLeaving = false
        var failure: HTTP2Error?
        for change in changes {
            switch change {
            case .opened, .streamLimit, .pingAnswered: break
            case .goAway, .exhausted, .retired: isLeaving = true
            case .closed(let error):
                isLeaving = true
                failure = error
            }
        }
        guard hasRoom || isLeaving else { return }
        announce { state in
            guard isLeaving, state.connection === connection else { return }
            state.connection = nil
            if let failure { state.failure = (failure, state.changeCount) }
        }
    }
}

extension AsyncStream<Void>.Continuation {
    /// Whether the stream has no reader left.
    fileprivate var isFinished: Bool {
        if case .terminated = yield(()) { true } else { false }
    }
}
