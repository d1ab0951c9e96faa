import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An upstream that answers with bytes as a test states them, right or wrong. It speaks HTTP/1.1 without TLS on loopback.
package final class RawServer: Sendable {
    package enum Answer: Sendable {
        case text(String)
        case bytes([UInt8])
        /// The text or the bytes, then the connection ends.
        case closing(String)
        case ending([UInt8])
        case silence
        /// A body that does not end.
        case endless
        /// A body of one byte every 50 ms.
        case dripping
    }

    package struct Request: Sendable, Equatable {
        /// The lines of the head.
        package var head: [String]
        package var body: [UInt8]

        package func field(_ name: String) -> String? {
            head.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var reads = 0
        var written = 0
        /// The last one repeats.
        var answers: [Answer]
    }

    package static let ok = Answer.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private let state: NIOLockedValueBox<State>
    private let channel: any Channel

    package var port: Int { channel.localAddress?.port ?? 0 }
    package var requests: [Request] { state.withLockedValue { $0.requests } }
    package var connections: Int { state.withLockedValue { $0.connections } }
    /// How often bytes have arrived.
    package var reads: Int { state.withLockedValue { $0.reads } }
    /// The bytes of endless bodies that the peer has taken.
    package var written: Int { state.withLockedValue { $0.written } }

    package static func start(host: String = "127.0.0.1", port: Int = 0, _ answers: [Answer] = [RawServer.ok])
        async throws
        -> RawServer
    {
        let state = NIOLockedValueBox(State(answers: answers))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    state.withLockedValue { $0.connections += 1 }
                    try channel.pipeline.syncOperations.addHandler(Handler(state))
                }
            }
            .bind(host: host, port: port).get()
        return RawServer(state, channel)
    }

    /// Two servers on one port of two hosts.
    package static func pair(_ one: String, _ other: String) async throws -> (RawServer, RawServer) {
        var attempts = 50
        while true {
            let first = try await start(host: one)
            do {
                return (first, try await start(host: other, port: first.port))
            } catch let error as IOError where error.errnoCode == EADDRINUSE && attempts > 0 {
                attempts -= 1
                await first.stop()
            }
        }
    }

    private init(_ state: NIOLockedValueBox<State>, _ channel: any Channel) {
        self.state = state
        self.channel = channel
    }

    package func stop() async { try? await channel.close() }

    package func script(_ answers: [Answer]) { state.withLockedValue { $0.answers = answers } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let state: NIOLockedValueBox<State>
        private var bytes: [UInt8] = []

        init(_ state: NIOLockedValueBox<State>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
            state.withLockedValue { $0.reads += 1 }
            while let request = next() {
                let answer = state.withLockedValue { state in
                    state.requests.append(request)
                    return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
                }
                reply(answer, context)
            }
        }

        /// The first whole request of what has arrived.
        private func next() -> Request? {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            var request = Request(head: head, body: [])
            let length = request.field("Content-Length").flatMap { Int($0) } ?? 0
            guard bytes.count - end.upperBound >= length else { return nil }
            request.body = Array(bytes[end.upperBound..<(end.upperBound + length)])
            bytes.removeFirst(end.upperBound + length)
            return request
        }

        private func reply(_ answer: Answer, _ context: ChannelHandlerContext) {
            switch answer {
            case .silence: break
            case .text(let text): write(Array(text.utf8), context)
            case .bytes(let bytes): write(bytes, context)
            case .closing(let text): end(Array(text.utf8), context)
            case .ending(let bytes): end(bytes, context)
            case .endless:
                write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8), context)
                pour(context)
            case .dripping:
                write(Array("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".utf8), context)
                drip(context)
            }
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        private func end(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)))
                .whenComplete { _ in bound.value.close(promise: nil) }
        }

        private func pour(_ context: ChannelHandlerContext) {
            let size = 16 << 10
            var chunk = ByteBuffer(string: String(size, radix: 16) + "\r\n")
            chunk.writeRepeatingByte(0x78, count: size)
            chunk.writeString("\r\n")
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(chunk)).whenSuccess {
                let (handler, context) = bound.value
                handler.state.withLockedValue { $0.written += size }
                handler.pour(context)
            }
        }

        private func drip(_ context: ChannelHandlerContext) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .milliseconds(50)) {
                let (handler, context) = bound.value
                guard context.channel.isActive else { return }
                handler.write([0x78], context)
                handler.drip(context)
            }
        }
    }
}
