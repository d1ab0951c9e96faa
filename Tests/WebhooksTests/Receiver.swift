import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A back end: a real HTTP/1.1 server on loopback that records calls and answers by script.
final class Receiver: Sendable {
    struct Request: Sendable {
        var uri: String
        var headers: HTTPHeaders
        var body: [UInt8]
    }

    enum Answer: Sendable {
        case status(Int, headers: [(String, String)] = [])
        /// Never answers.
        case silence
        /// Closes the connection without an answer.
        case close
        /// Status 200 and a body that does not end.
        case endless
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        /// The answers to the next calls; the last one repeats.
        var answers: [Answer]
    }

    private let state: NIOLockedValueBox<State>
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }
    var requests: [Request] { state.withLockedValue { $0.requests } }
    var connections: Int { state.withLockedValue { $0.connections } }

    /// Listens on `host`, any port unless one is given.
    static func start(_ host: String = "127.0.0.1", port: Int = 0, answer: Answer = .status(200)) async throws
        -> Receiver
    {
        try await start(host, port: port, answers: [answer])
    }

    /// Answers one after another; the last one repeats.
    static func start(_ host: String = "127.0.0.1", port: Int = 0, answers: [Answer]) async throws -> Receiver {
        let box = NIOLockedValueBox<Receiver?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let receiver = box.withLockedValue { $0 }
                    receiver?.state.withLockedValue { $0.connections += 1 }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ReceiverHandler(receiver))
                }
            }
            .bind(host: host, port: port).get()
        let receiver = Receiver(channel, answers)
        box.withLockedValue { $0 = receiver }
        return receiver
    }

    /// Two receivers that listen on one port of two hosts. A port that is free on the first host may be in use on the
    /// second; then another port is tried.
    static func pair(_ one: String, _ other: String) async throws -> (Receiver, Receiver) {
        var attempts = 50
        while true {
            let first = try await start(one)
            do {
                return (first, try await start(other, port: first.port))
            } catch let error as IOError where error.errnoCode == EADDRINUSE && attempts > 0 {
                attempts -= 1
                await first.stop()
            }
        }
    }

    private init(_ channel: any Channel, _ answers: [Answer]) {
        self.channel = channel
        state = NIOLockedValueBox(State(answers: answers))
    }

    func stop() async { try? await channel.close() }

    fileprivate func record(_ request: Request) -> Answer {
        state.withLockedValue { state in
            state.requests.append(request)
            return (state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first) ?? .silence
        }
    }
}

private final class ReceiverHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receiver: Receiver?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ receiver: Receiver?) { self.receiver = receiver }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let buffer): body += Array(buffer.readableBytesView)
        case .end:
            guard let head, let receiver else { return }
            let request = Receiver.Request(uri: head.uri, headers: head.headers, body: body)
            answer(receiver.record(request), context)
        }
    }

    private func answer(_ answer: Receiver.Answer, _ context: ChannelHandlerContext) {
        switch answer {
        case .silence: break
        case .close: context.close(promise: nil)
        case .status(let code, let fields):
            var headers = HTTPHeaders(fields)
            headers.add(name: "Content-Length", value: "0")
            write(code, headers, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .endless:
            write(200, ["Transfer-Encoding": "chunked"], context)
            pour(context)
        }
    }

    private func write(_ code: Int, _ headers: HTTPHeaders, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: code), headers: headers)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Sends another chunk each time the previous one was written, until the peer closes the connection.
    private func pour(_ context: ChannelHandlerContext) {
        let chunk = context.channel.allocator.buffer(repeating: 0x78, count: 64 * 1024)
        let again = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(chunk)))).whenSuccess {
            let (handler, context) = again.value
            handler.pour(context)
        }
    }
}
