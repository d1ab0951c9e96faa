import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A back end on loopback that confirms each call at once and counts the calls.
final class CountingReceiver: Sendable {
    private let channel: any Channel
    private let count: NIOLockedValueBox<Int>

    var port: Int { channel.localAddress?.port ?? 0 }
    var calls: Int { count.withLockedValue { $0 } }

    private init(_ channel: any Channel, _ count: NIOLockedValueBox<Int>) {
        self.channel = channel
        self.count = count
    }

    /// - Throws: the error of opening the port.
    static func start() async throws -> CountingReceiver {
        let count = NIOLockedValueBox(0)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ConfirmingHandler(count))
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

    init(_ count: NIOLockedValueBox<Int>) { self.count = count }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        count.withLockedValue { $0 += 1 }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
