import AsyncHTTPClient
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// One call: passes the head and the parts of the answer to the caller, and knows whether the request may have left.
///
/// The callbacks run on the event loop of the call. The call ends by its deadline at the latest, whatever the caller does. The client waits for the promise of
/// a part that nobody releases even after its own deadline, so the exchange keeps that promise and completes it.
///
/// A short answer is collected on the event loop, and the caller continues once, when it is whole. A longer one, or one of unknown length, is streamed.
final class OutgoingExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    /// The answer is longer than permitted.
    private struct TooLong: Error {}

    /// The answer for which the caller waits.
    struct Answer: Sendable {
        let head: HTTPResponseHead
        let arrivedAt: ContinuousClock.Instant
        /// The body if it was collected. Nil: it is streamed.
        var collected: OutgoingBody.Source?
    }

    /// The stream from which a body is read.
    private struct Stream {
        let source: AsyncThrowingStream<BodyPart, any Error>.Continuation
        /// Whether the last byte of the answer has been read.
        let isComplete: NIOLockedValueBox<Bool>
        /// Ends the call at its deadline while a part has a late reader.
        let timer: Scheduled<Void>
    }

    private struct State {
        var isSent = false
        /// The bytes of the body that may still arrive.
        var left: Int
        /// The answer that is being collected; nil: none is.
        var answer: Answer?
        var bytes = ByteBuffer()
        /// Nil: no body is streamed.
        var stream: Stream?
        /// Taken by the response: only its reader holds it then, and the call ends when the reader drops it.
        var parts: AsyncThrowingStream<BodyPart, any Error>?
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

        /// The collected answer, once. Nil: none is being collected.
        mutating func takeAnswer(_ failure: OutgoingError?) -> Answer? {
            defer { answer = nil }
            answer?.collected = .collected(bytes, failure: failure)
            return answer
        }
    }

    private let state: NIOLockedValueBox<State>
    private let hasBody: Bool
    /// The largest body that is collected. Nil: every body is streamed.
    private let collectedBytes: Int?
    private let deadline: NIODeadline
    private let answer: EventLoopPromise<Answer>

    /// - Parameters:
    ///   - loop: the event loop of the call.
    ///   - hasBody: whether the request has a body.
    ///   - bodyLimitBytes: the longest body of an answer.
    ///   - collectedBytes: a body whose stated length is not above this is collected. Nil: every body is streamed.
    ///   - deadline: the end of the call.
    init(
        on loop: any EventLoop,
        hasBody: Bool,
        bodyLimitBytes: Int,
        collectedBytes: Int?,
        deadline: NIODeadline
    ) {
        self.hasBody = hasBody
        self.collectedBytes = collectedBytes
        self.deadline = deadline
        state = NIOLockedValueBox(State(left: bodyLimitBytes))
        answer = loop.makePromise()
    }

    // MARK: The caller's side

    /// Runs the call until the head of its answer, or until the whole answer if it is collected.
    func response(of call: HTTPClient.Task<Void>) async throws(OutgoingError) -> OutgoingResponse {
        do {
            let answer = try await withTaskCancellationHandler {
                try await self.answer.futureResult.get()
            } onCancel: {
                call.cancel()
            }
            guard let source = answer.collected ?? takeParts() else { throw OutgoingError.indeterminate(.cancelled) }
            return OutgoingResponse(
                status: Int(answer.head.status.code),
                fields: Self.fields(answer.head.headers),
                version: "\(answer.head.version.major).\(answer.head.version.minor)",
                arrivedAt: answer.arrivedAt,
                body: OutgoingBody(source: source)
            )
        } catch {
            throw error as? OutgoingError ?? .indeterminate(.closed)
        }
    }

    private func takeParts() -> OutgoingBody.Source? {
        state.withLockedValue { state in
            guard let parts = state.parts, let stream = state.stream else { return nil }
            state.parts = nil
            return .parts(parts, isComplete: stream.isComplete)
        }
    }

    private static func fields(_ headers: HTTPHeaders) -> HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// The call never started.
    func abandon() { fail(HTTPClientError.cancelled) }

    /// The call has ended. Also reports errors that the client does not report to its delegate.
    func ended(_ result: Result<Void, any Error>) { if case .failure(let error) = result { fail(error) } }

    /// The time of the call is over. Without a part whose reader is late, the client's own deadline ends the call, with a better error.
    private func expire() {
        let isHeld = state.withLockedValue { $0.taken != nil }
        if isHeld { fail(HTTPClientError.deadlineExceeded) }
    }

    // MARK: The client's side

    /// The body is written now: from here on the upstream may have the whole request.
    func bodyLeaves() { state.withLockedValue { $0.isSent = true } }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) { if !hasBody { bodyLeaves() } }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        bodyLeaves()
        let answer = Answer(head: head, arrivedAt: .now)
        if let limit = collectedBytes, let length = Self.length(of: head), length >= 0, length <= limit {
            state.withLockedValue { state in
                state.answer = answer
                state.left = min(state.left, limit)
            }
        } else {
            stream(task)
            self.answer.succeed(answer)
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// The stated length of a body; nil: it is not known.
    private static func length(of head: HTTPResponseHead) -> Int? {
        if head.status == .noContent || head.status == .notModified { return 0 }
        return head.headers.first(name: "content-length").flatMap { Int($0) }
    }

    /// Prepares the stream from which the body is read.
    private func stream(_ call: HTTPClient.Task<Void>) {
        // Unbounded, with at most one part in it: the next part arrives after the last one was taken.
        let (parts, source) = AsyncThrowingStream<BodyPart, any Error>.makeStream()
        source.onTermination = { [state] reason in
            guard case .cancelled = reason else { return }
            call.cancel()
            // A part that is in the stream has no reader any longer.
            state.withLockedValue { $0.end() }?.fail(HTTPClientError.cancelled)
        }
        let timer = call.eventLoop.scheduleTask(deadline: deadline) { self.expire() }
        state.withLockedValue { state in
            state.parts = parts
            state.stream = Stream(source: source, isComplete: NIOLockedValueBox(false), timer: timer)
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let isPermitted = state.withLockedValue { state in
            state.left -= buffer.readableBytes
            return state.left >= 0
        }
        guard isPermitted else { return task.eventLoop.makeFailedFuture(TooLong()) }
        if isCollected(buffer) { return task.eventLoop.makeSucceededVoidFuture() }
        let taken = task.eventLoop.makePromise(of: Void.self)
        let source = state.withLockedValue { state -> AsyncThrowingStream<BodyPart, any Error>.Continuation? in
            guard !state.isEnded, let stream = state.stream else { return nil }
            state.taken = taken
            return stream.source
        }
        guard let source else {
            taken.fail(HTTPClientError.cancelled)
            return taken.futureResult
        }
        source.yield(BodyPart(buffer, taken))
        return taken.futureResult
    }

    /// Adds a part to the answer if that is collected.
    private func isCollected(_ buffer: ByteBuffer) -> Bool {
        state.withLockedValue { state in
            guard state.answer != nil else { return false }
            if state.bytes.readableBytes == 0 {
                state.bytes = buffer
            } else {
                state.bytes.writeImmutableBuffer(buffer)
            }
            return true
        }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        let (collected, stream) = state.withLockedValue { ($0.takeAnswer(nil), $0.stream) }
        if let collected { answer.succeed(collected) }
        guard let stream else { return }
        stream.timer.cancel()
        stream.isComplete.withLockedValue { $0 = true }
        stream.source.finish()
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { fail(error) }

    private func fail(_ error: any Error) {
        let failure = failure(for: error)
        let (collected, stream, taken) = state.withLockedValue { ($0.takeAnswer(failure), $0.stream, $0.end()) }
        if let collected {
            // Its head has arrived: the caller gets it, and the error with the body.
            answer.succeed(collected)
        } else {
            answer.fail(failure)
        }
        stream?.timer.cancel()
        stream?.source.finish(throwing: failure)
        taken?.fail(error)
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
