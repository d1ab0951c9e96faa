import HTTP2
import NIOConcurrencyHelpers

/// One connection and one request, with their outcomes.
final class Trial: ConnectionObserver {
    private struct State {
        var outcomes: [Bool] = []
        var isSent = false
        var closeCount = 0
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())
    private let head: HeaderBlock

    init() throws { head = try HeaderBlock(method: "POST", authority: "localhost") }

    /// Opens a connection, sends a request, and waits for its end and that of the connection.
    ///
    /// - Returns: whether the request was answered.
    /// - Throws: `Broken` if a request or the connection ended twice.
    func run(_ configuration: ConnectionConfiguration, on loop: EventLoop) async throws -> Bool {
        let connection = Connection(configuration, loop: loop, observer: self)
        await withCheckedContinuation { continuation in
            state.withLockedValue { $0.waiting = continuation }
            connection.open()
        }
        let end = state.withLockedValue { $0 }
        guard end.closeCount == 1, end.outcomes.count == (end.isSent ? 1 : 0) else {
            throw Broken(what: "closed \(end.closeCount) times, \(end.outcomes.count) outcomes")
        }
        return end.outcomes == [true]
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        let changes = report.changes
        let outcomes = report.completions.map { completion in
            if case .success = completion.result { true } else { false }
        }
        if changes.contains(.opened) { send(on: connection) }
        let finished: CheckedContinuation<Void, Never>? = state.withLockedValue { state in
            state.outcomes += outcomes
            for case .closed in changes { state.closeCount += 1 }
            guard state.closeCount > 0 else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        if !outcomes.isEmpty { connection.close() }
        finished?.resume()
    }

    private func send(on connection: Connection) {
        var batch = RequestBatch()
        batch.append(slot: 1, head: head, deadline: .now + .seconds(2)) { writer in
            writer.path("/ok")
            writer.body([UInt8](repeating: 1, count: 30_000))
        }
        let isTaken = connection.submit(&batch) == 1
        state.withLockedValue { $0.isSent = isTaken }
        if !isTaken { connection.close() }
    }
}

/// A violated rule.
struct Broken: Error {
    let what: String
}
