import CommandSupport
import Foundation
import Model
import NIOCore
import NIOPosix
import NIOSSL

@testable import GatewayHTTP

/// A proxy of the tests: it writes a header before anything else of a connection.
enum ProxyClient {
    /// Makes a call after a header.
    ///
    /// - Parameters:
    ///   - address: the listener.
    ///   - header: the bytes before the call, and before TLS.
    ///   - call: the call.
    ///   - trust: the file of the listener's certificate; nil: without TLS.
    /// - Returns: everything that the server sent until it closed the connection.
    /// - Throws: when the connection cannot be opened.
    static func exchange(
        _ address: ListenAddress,
        header: [UInt8],
        call: String,
        trust: String? = nil
    ) async throws -> String {
        let context = try trust.map { file in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(file)
            return try NIOSSLContext(configuration: configuration)
        }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HeaderWriter(header))
                    if let context {
                        let tls = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(tls)
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var text = ""
            // A connection that the server has closed already cannot be written to.
            do {
                try await outbound.write(ByteBuffer(string: call))
                for try await buffer in inbound { text += String(buffer: buffer) }
            } catch {}
            return text
        }
    }

    /// Writes the header when the connection opens, before the handlers after it.
    private final class HeaderWriter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let header: [UInt8]

        init(_ header: [UInt8]) { self.header = header }

        func channelActive(context: ChannelHandlerContext) {
            if !header.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: header)), promise: nil) }
            context.fireChannelActive()
        }
    }
}

extension ProxyClient {
    /// Sends bytes and reads until what the server sent satisfies `isEnough`, the server closes the connection, or the task is canceled.
    ///
    /// - Returns: whether it was satisfied.
    /// - Throws: when the connection cannot be opened.
    static func answer(
        _ address: ListenAddress,
        header: [UInt8] = [],
        _ request: String,
        until isEnough: @Sendable (String) -> Bool
    ) async throws -> Bool {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HeaderWriter(header))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var text = ""
            do {
                if !request.isEmpty { try await outbound.write(ByteBuffer(string: request)) }
                for try await buffer in inbound {
                    text += String(buffer: buffer)
                    if isEnough(text) { return true }
                }
            } catch {}
            return isEnough(text)
        }
    }
}
