import NIOCore
import NIOHTTP1

/// Sends the head and the body of a request in one write. The client flushes head, body and end one after the other, so that each would be a system call
/// and a segment, and the upstream would read twice.
///
/// All flushes of one turn of the event loop become one at its end. A body that is written in later turns is flushed then.
///
/// A connection whose reset has arrived and has not been read yet fails at that flush, after the body was asked for: the request counts as perhaps received.
final class FlushJoiner: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    private var isPlanned = false

    /// Adds the handler to a new connection that speaks HTTP/1.1. Called on the event loop of the connection. It never fails: the client would keep a connection
    /// that is neither used nor closed.
    static func join(_ channel: any Channel) -> EventLoopFuture<Void> {
        let pipeline = channel.pipeline.syncOperations
        // Between TLS and the encoder, so that TLS also writes once. A connection that has closed meanwhile has no handlers.
        if let encoder = try? pipeline.handler(type: HTTPRequestEncoder.self) {
            try? pipeline.addHandler(FlushJoiner(), position: .before(encoder))
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    func flush(context: ChannelHandlerContext) {
        guard !isPlanned else { return }
        isPlanned = true
        context.eventLoop.assumeIsolated().execute {
            self.isPlanned = false
            context.flush()
        }
    }
}
