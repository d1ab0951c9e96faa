import Foundation
import Model
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A collector of syslog messages on a real socket. It reads octet-counted frames (RFC 6587) with a parser of its own.
final class SyslogReceiver: Sendable {
    private struct State {
        var messages: [String] = []
        var connections = 0
        var problems: [String] = []
        /// Connections that are cut after their first bytes, which are thrown away.
        var cuts = 0
        var open: [any Channel] = []
    }

    private let channel: any Channel

    /// Listens on a port of this machine; 0: a free one.
    static func tcp(port: Int = 0, cuts: Int = 0, tls: NIOSSLContext? = nil) async throws -> SyslogReceiver {
        let state = NIOLockedValueBox(State(cuts: cuts))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    let isCut = state.withLockedValue { state in
                        state.connections += 1
                        state.open.append(channel)
                        defer { state.cuts = max(0, state.cuts - 1) }
                        return state.cuts > 0
                    }
                    try channel.pipeline.syncOperations.addHandler(Frames(state: state, isCut: isCut))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        return SyslogReceiver(channel, state)
    }

    private let shared: NIOLockedValueBox<State>

    private init(_ channel: any Channel, _ state: NIOLockedValueBox<State>) {
        self.channel = channel
        shared = state
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var messages: [String] { shared.withLockedValue { $0.messages } }
    var connections: Int { shared.withLockedValue { $0.connections } }
    var problems: [String] { shared.withLockedValue { $0.problems } }

    /// The positions of a tenant's rows, in the order of their arrival.
    func positions(of tenant: String) -> [Int] {
        messages.compactMap { message in
            let row = message.firstIndex(of: "{").flatMap { try? JSONParser.parse(Array(message[$0...].utf8)) }
            return row?["tenant"]?.string == tenant ? row?["position"]?.int.map { Int($0) } : nil
        }
    }

    /// Closes the socket and all connections.
    func close() async {
        try? await channel.close().get()
        for channel in shared.withLockedValue({ $0.open }) { try? await channel.close().get() }
    }

    /// Reads `length SP message`.
    private final class Frames: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let state: NIOLockedValueBox<State>
        private let isCut: Bool
        private var rest: [UInt8] = []

        init(state: NIOLockedValueBox<State>, isCut: Bool) {
            self.state = state
            self.isCut = isCut
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if isCut { return context.close(promise: nil) }
            rest += Array(unwrapInboundIn(data).readableBytesView)
            while let space = rest.firstIndex(of: 0x20) {
                guard let length = Int(String(decoding: rest[..<space], as: UTF8.self)), length > 0 else {
                    state.withLockedValue {
                        $0.problems.append("no length: \(String(decoding: rest.prefix(40), as: UTF8.self))")
                    }
                    return context.close(promise: nil)
                }
                guard rest.count >= space + 1 + length else { return }
                let message = String(decoding: rest[(space + 1)..<(space + 1 + length)], as: UTF8.self)
                rest.removeFirst(space + 1 + length)
                state.withLockedValue { $0.messages.append(message) }
            }
        }
    }
}
