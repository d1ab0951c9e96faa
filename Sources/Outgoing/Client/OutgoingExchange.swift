import AsyncHTTPClient
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// One call: passes the head and the parts of the answer to the caller, and knows whether the request may have left.
///
/// The callbacks run on the event loop of the call. The call ends by its deadline at the latest, whatever the caller does. The client waits for the promise of
/// a part that nobody releases even after its own deadline, so the exchange keeps that promise and completes it.
final class OutgoingExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    /// The answer is longer than permitted.
    private struct TooLong: Error {}

    private struct State {
        var isSent = false
        /// The bytes of the body that may still arrive.
        var left: Int
        /// The promise of the last part, which its reader completes; nil: no part has arrived, or the call has ended.
        var taken: EventLoopPromise<Void>?
        /// No part is accepted any longer.
        var isEnded = false

        /// Ends the acceptance of parts and returns the promise for which the client may wait.
        mutating func end() -> EventLoopPromise<Void>? {
            isEnded = true
            defer { taken = nil }
            return taken
        }
    }

    private let state: NIOLockedValueBox<State>
    private let hasBody: Bool
    private let head: EventLoopPromise<HTTPResponseHead>
    /// Taken by the response: only its reader holds it then, and the call ends when the reader drops it.
    private let parts: NIOLockedValueBox<AsyncThrowingStream<BodyPart, any Error>?>
    private let source: AsyncThrowingStream<BodyPart, any Error>.Continuation
    /// Whether the last byte of the answer has been read.
    private let isComplete = NIOLockedValueBox(false)

    init(hasBody: Bool, bodyLimitBytes: Int) {
        self.hasBody = hasBody
        state = NIOLockedValueBox(State(left: bodyLimitBytes))
        head = MultiThreadedEventLoopGroup.singleton.any().makePromise()
        // Unbounded, with at most one part in it: the next part arrives after the last one was taken.
        let (stream, source) = AsyncThrowingStream<BodyPart, any Error>.makeStream()
        parts = NIOLockedValueBox(stream)
        self.source = source
    }

    // MARK: The caller's side

    /// Runs the call until the head of its answer.
    func response(of call: HTTPClient.Task<Void>) async throws(OutgoingError) -> OutgoingResponse {
        let parts = self.parts.withLockedValue { parts in
            defer { parts = nil }
            return parts
        }
        guard let parts else { throw .indeterminate(.cancelled) }
        source.onTermination = { [state] reason in
            guard case .cancelled = reason else { return }
            call.cancel()
            // A part that is in the stream has no reader any longer.
            state.withLockedValue { $0.end() }?.fail(HTTPClientError.cancelled)
        }
        // Also for errors that the client does not report to its delegate.
        call.futureResult.whenComplete { if case .failure(let error) = $0 { self.fail(error) } }
        do {
            let head = try await withTaskCancellationHandler {
                try await self.head.futureResult.get()
            } onCancel: {
                call.cancel()
            }
            return OutgoingResponse(
                status: Int(head.status.code),
                fields: Self.fields(head.headers),
                version: "\(head.version.major).\(head.version.minor)",
                body: OutgoingBody(parts: parts, isComplete: isComplete)
            )
        } catch {
            throw error as? OutgoingError ?? .indeterminate(.closed)
        }
    }

    private static func fields(_ headers: HTTPHeaders) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// The call never started.
    func abandon() { fail(HTTPClientError.cancelled) }

    /// The time of the call is over. Without a part whose reader is late, the client's own deadline ends the call, with a better error.
    func expire() {
        let isHeld = state.withLockedValue { $0.taken != nil }
        if isHeld { fail(HTTPClientError.deadlineExceeded) }
    }

    // MARK: The client's side

    /// The body is written now: from here on the upstream may have the whole request.
    func bodyLeaves() { state.withLockedValue { $0.isSent = true } }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) { if !hasBody { bodyLeaves() } }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        bodyLeaves()
        self.head.succeed(head)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let isPermitted = state.withLockedValue { state in
            state.left -= buffer.readableBytes
            return state.left >= 0
        }
        guard isPermitted else { return task.eventLoop.makeFailedFuture(TooLong()) }
        let taken = task.eventLoop.makePromise(of: Void.self)
        let isWanted = state.withLockedValue { state in
            guard !state.isEnded else { return false }
            state.taken = taken
            return true
        }
        guard isWanted else {
            taken.fail(HTTPClientError.cancelled)
            return taken.futureResult
        }
        source.yield(BodyPart(buffer, taken))
        return taken.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        isComplete.withLockedValue { $0 = true }
        source.finish()
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { fail(error) }

    private func fail(_ error: any Error) {
        let failure = failure(for: error)
        head.fail(failure)
        source.finish(throwing: failure)
        state.withLockedValue { $0.end() }?.fail(error)
    }

    /// The meaning of an error of the client. A request with a body has not left while its body was not asked for. A request without one has not left if no
    /// connection was opened; otherwise nobody knows.
    private func failure(for error: any Error) -> OutgoingError {
        let reason = Self.reason(of: error)
        if state.withLockedValue({ $0.isSent }) { return .indeterminate(reason == .connection ? .closed : reason) }
        return hasBody || reason == .connection ? .unsent(reason) : .indeterminate(reason)
    }

    private static func reason(of error: any Error) -> OutgoingError.Reason {
        switch error {
        case is TooLong: return .tooLong
        case let error as HTTPParserError: return error == .invalidEOFState ? .closed : .unreadable
        case let error as HTTPClientError:
            if error == .deadlineExceeded || error == .readTimeout { return .timeout }
            if error == .cancelled { return .cancelled }
            return error == .remoteConnectionClosed ? .closed : .connection
        default: return .connection
        }
    }
}
