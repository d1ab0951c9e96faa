import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Translates the parts of HTTP/1.1 messages to those of the web framework, with the same result as the framework's own codec.
///
/// That one parses the target of every request as a URL, because it may be an absolute one. A target that begins with a slash is a path with its query, as in nearly
/// every request, and needs no parsing.
final class CallCodec: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The framework's own.
    private let base: HTTP1ToHTTPServerCodec

    init(_ base: HTTP1ToHTTPServerCodec) { self.base = base }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard let request = Self.request(head) else { return base.channelRead(context: context, data: data) }
            context.fireChannelRead(wrapInboundOut(.head(request)))
        case .body(let body): context.fireChannelRead(wrapInboundOut(.body(body)))
        case .end(let trailers):
            let fields = trailers.map { HTTPFields($0, splitCookie: false) }
            context.fireChannelRead(wrapInboundOut(.end(fields)))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        base.write(context: context, data: data, promise: promise)
    }

    /// The request whose target is a path; nil for another target.
    static func request(_ head: HTTPRequestHead) -> HTTPRequest? {
        guard head.uri.utf8.first == UInt8(ascii: "/"), let method = try? HTTPRequest.Method(head.method) else {
            return nil
        }
        return HTTPRequest(
            method: method,
            scheme: "http",
            authority: head.headers["Host"].first,
            path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false)
        )
    }
}

/// Puts a `CallCodec` in the place of the framework's codec of each connection.
struct CallChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let operations = channel.pipeline.syncOperations
            let codec = try operations.handler(type: HTTP1ToHTTPServerCodec.self)
            try operations.addHandler(CallCodec(codec), position: .after(codec))
            operations.removeHandler(codec, promise: nil)
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
