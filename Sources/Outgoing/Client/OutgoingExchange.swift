import AsyncHTTPClient
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// One call: passes the head and the parts of the answer to the caller, and knows whether the request may have left.
///
/// The callbacks run on the event loop of the call. The call ends by its deadline at the latest, whatever the caller does.
final class OutgoingExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    /// The answer is longer than permitted.
    private struct TooLong: Error {}

    private struct State {
        var isSent = false
        /// The bytes of the body that may still arrive.
        var left: Int
    }

    private let state: NIOLockedValueBox<State>
    private let hasBody: Bool
    private let head: EventLoopPromise<HTTPResponseHead>
    /// Taken by the response: only its reader holds it then, and the call ends when the reader drops it.
    private let parts: NIOLockedValueBox<AsyncThrowingStream<BodyPart, any Error>?>
    private let source: AsyncThrowingStream<BodyPart, any Error>.Continuation

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
        source.onTermination = { reason in if case .cancelled = reason { call.cancel() } }
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
                body: OutgoingBody(parts: parts)
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
        source.yield(BodyPart(buffer, taken))
        return taken.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) { source.finish() }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { fail(error) }

    private func fail(_ error: any Error) {
        let failure = failure(for: error)
        head.fail(failure)
        source.finish(throwing: failure)
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
