import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server on loopback that confirms each call and counts the calls.
final class CountingReceiver: Sendable {
    private let channel: any Channel
    private let count: NIOLockedValueBox<Int>

    var port: Int { channel.localAddress?.port ?? 0 }
    var calls: Int { count.withLockedValue { $0 } }

    private init(_ channel: any Channel, _ count: NIOLockedValueBox<Int>) {
        self.channel = channel
        self.count = count
    }

    /// - Parameters:
    ///   - answer: the JSON of each answer.
    ///   - held: decides when a call is confirmed; nil: at once.
    /// - Returns: the running server.
    /// - Throws: the error of opening the port.
    static func start(answer: String = "", held: HeldAnswers? = nil) async throws -> CountingReceiver {
        let count = NIOLockedValueBox(0)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ConfirmingHandler(count, answer, held))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return CountingReceiver(channel, count)
    }

    func stop() async { try? await channel.close() }
}

private final class ConfirmingHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let count: NIOLockedValueBox<Int>
    private let answer: String
    private let held: HeldAnswers?

    init(_ count: NIOLockedValueBox<Int>, _ answer: String, _ held: HeldAnswers?) {
        self.count = count
        self.answer = answer
        self.held = held
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        count.withLockedValue { $0 += 1 }
        guard let turn = held?.turn(on: context.eventLoop) else { return confirm(context) }
        turn.assumeIsolated().whenComplete { [self] _ in confirm(context) }
    }

    private func confirm(_ context: ChannelHandlerContext) {
        let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(answer.utf8.count)"]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// Holds the answers of servers back, and releases them all together.
final class HeldAnswers: Sendable {
    private struct State {
        var isHolding = false
        var waiting: [EventLoopPromise<Void>] = []
    }

    private let state = NIOLockedValueBox(State())

    /// The number of calls that wait.
    var count: Int { state.withLockedValue { $0.waiting.count } }

    /// Holds further answers back, until `release`.
    func hold() { state.withLockedValue { $0.isHolding = true } }

    func release() {
        let waiting = state.withLockedValue { state -> [EventLoopPromise<Void>] in
            defer { state = State() }
            return state.waiting
        }
        for promise in waiting { promise.succeed(()) }
    }

    /// Ends when the answer may leave; nil: at once.
    func turn(on loop: any EventLoop) -> EventLoopFuture<Void>? {
        state.withLockedValue { state -> EventLoopFuture<Void>? in
            guard state.isHolding else { return nil }
            let promise = loop.makePromise(of: Void.self)
            state.waiting.append(promise)
            return promise.futureResult
        }
    }
}
