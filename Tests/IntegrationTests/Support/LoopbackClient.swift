import Foundation
import Model
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import CommandSupport
@testable import GatewayHTTP

/// A connection from an address of its own: every address of 127.0.0.0/8 is this machine's, and the gateway sees which one calls.
///
/// Requests are written before the answers to earlier ones arrive, so that thousands of calls take seconds.
struct LoopbackClient: Sendable {
    typealias Answer = HTTPCaller.Answer

    struct Call: Sendable {
        var method = HTTPMethod.POST
        var path: String
        var headers: [String: String] = [:]
        var body: String

        static func json(_ path: String, _ body: JSON, _ headers: [String: String] = [:]) -> Call {
            Call(
                path: path,
                headers: headers.merging(["Content-Type": "application/json"]) { first, _ in first },
                body: JSONWriter.text(body)
            )
        }
    }

    private let channel: any Channel
    private let host: String
    private let collector: AnswerCollector

    /// Opens a connection from `source`, and closes it after `body`.
    static func from<Value: Sendable>(
        _ source: String,
        to base: String,
        _ body: (LoopbackClient) async throws -> Value
    ) async throws -> Value {
        let target = try #require(base.split(separator: "/").last.flatMap { ListenAddress(String($0)) })
        let collector = AnswerCollector()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: try SocketAddress(ipAddress: source, port: 0))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        HTTPRequestEncoder(),
                        ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)),
                        collector
                    )
                }
            }
            .connect(host: target.host, port: target.port).get()
        let client = LoopbackClient(channel: channel, host: "\(target)", collector: collector)
        do {
            let value = try await body(client)
            try? await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// Makes calls one after the other on the connection.
    ///
    /// - Returns: their answers in order; fewer if the connection was closed.
    func make(_ calls: [Call]) async throws -> [Answer] {
        let answers = collector.expect(calls.count, on: channel.eventLoop)
        for call in calls {
            var head = HTTPRequestHead(version: .http1_1, method: call.method, uri: call.path)
            head.headers.add(name: "Host", value: host)
            head.headers.add(name: "Content-Length", value: "\(call.body.utf8.count)")
            for (name, value) in call.headers { head.headers.add(name: name, value: value) }
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: call.body))), promise: nil)
            channel.write(HTTPClientRequestPart.end(nil), promise: nil)
        }
        channel.flush()
        let made = try await answers.get()
        for (call, answer) in zip(calls, made) { DeclaredAnswers.check(call.method.rawValue, call.path, answer) }
        return made
    }

    /// Makes one call.
    func call(_ call: Call) async throws -> Answer { try #require(try await make([call]).first, "no answer") }

    /// Announces a body, and sends only its beginning.
    func begin(_ path: String, statedBytes: Int, _ beginning: String) async throws {
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path)
        head.headers.add(name: "Host", value: host)
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: "\(statedBytes)")
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        try await channel.writeAndFlush(
            HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: beginning)))
        )
    }

    /// Whether the server has closed the connection.
    var isClosed: Bool { !channel.isActive }
}

/// Collects the answers of a connection. Used on its event loop; the lock permits to expect answers from elsewhere.
private final class AnswerCollector: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart

    private struct State {
        var answers: [LoopbackClient.Answer] = []
        var expected = 0
        var promise: EventLoopPromise<[LoopbackClient.Answer]>?
    }

    private let state = NIOLockedValueBox(State())

    func expect(_ count: Int, on loop: any EventLoop) -> EventLoopFuture<[LoopbackClient.Answer]> {
        let promise = loop.makePromise(of: [LoopbackClient.Answer].self)
        state.withLockedValue { $0 = State(expected: count, promise: promise) }
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        let isDone = state.withLockedValue { state -> Bool in
            switch part {
            case .head(let head):
                state.answers.append(.init(status: Int(head.status.code), headers: head.headers, bytes: []))
                return false
            case .body(let buffer):
                if !state.answers.isEmpty { state.answers[state.answers.count - 1].bytes += buffer.readableBytesView }
                return false
            case .end: return state.answers.count >= state.expected
            }
        }
        if isDone { finish() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func finish() {
        let (promise, answers) = state.withLockedValue { state in
            defer { state.promise = nil }
            return (state.promise, state.answers)
        }
        promise?.succeed(answers)
    }
}
