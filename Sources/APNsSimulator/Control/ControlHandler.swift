import Foundation
import NIOCore
import NIOHTTP1

/// The HTTP/1.1 handler of the control port: it collects one request, gets its answer and sends it as JSON.
final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// 32 MiB, enough for a script of 200,000 tokens. A larger request is answered with 413 and the connection is closed.
    private static let largestBodyBytes = 33_554_432

    private let routes: ControlRoutes
    private var head: HTTPRequestHead?
    private var body = Data()
    private var isTooLarge = false

    init(routes: ControlRoutes) {
        self.routes = routes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = Data()
            isTooLarge = false
        case .body(let part):
            isTooLarge = isTooLarge || body.count + part.readableBytes > Self.largestBodyBytes
            if !isTooLarge { body.append(contentsOf: part.readableBytesView) }
        case .end:
            guard let head else { return }
            let answer =
                isTooLarge
                ? ControlRoutes.Answer.failure(413, "at most \(Self.largestBodyBytes) bytes")
                : routes.answer(method: head.method.rawValue, target: head.uri, body: body)
            send(answer, isKeptAlive: head.isKeepAlive, context: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(_ answer: ControlRoutes.Answer, isKeptAlive: Bool, context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        headers.add(name: "content-type", value: answer.contentType)
        headers.add(name: "content-length", value: String(answer.body.count))
        if !isKeptAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let sent = context.eventLoop.makePromise(of: Void.self)
        if !isKeptAlive { sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }
}
