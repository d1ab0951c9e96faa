import Foundation
import Model
import NIOCore
import NIOPosix
import NIOSSL

/// One connection to a collector. One task uses it; it is closed by its user, or by the peer.
struct SyslogConnection: Sendable {
    /// Five seconds for the connection and its TLS handshake.
    private static let connectTimeout = TimeAmount.seconds(5)
    /// Ten seconds for a page: a collector that reads nothing must not hold the audit for ever.
    private static let writeTimeout = TimeAmount.seconds(10)

    private let channel: any Channel
    private let isDatagram: Bool

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - address: the collector.
    ///   - tls: for encrypted addresses; nil: the system's authorities.
    ///   - ackSeconds: the system closes the connection when sent data is not acknowledged for this time.
    /// - Returns: the open connection.
    /// - Throws: an error of the system or of TLS.
    static func open(_ address: SyslogAddress, _ tls: NIOSSLContext?, ackSeconds: Int) async throws -> SyslogConnection
    {
        let group = MultiThreadedEventLoopGroup.singleton
        switch address {
        case .datagram(let path):
            let channel = try await DatagramBootstrap(group: group).connect(unixDomainSocketPath: path).get()
            return SyslogConnection(channel: channel, isDatagram: true)
        case .stream(let host, let port, let isEncrypted):
            let context = isEncrypted ? try tls ?? NIOSSLContext(configuration: .makeClientConfiguration()) : nil
            let userTimeout = ChannelOptions.Types.SocketOption(
                level: .tcp,
                name: NIOBSDSocket.Option(rawValue: CInt(TCP_USER_TIMEOUT))
            )
            let channel = try await ClientBootstrap(group: group)
                .connectTimeout(connectTimeout)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelOption(userTimeout, value: ackSeconds * 1000)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let context else { return }
                        let name = IPAddress(host) == nil ? host : nil
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: name)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
                .connect(host: host, port: port).get()
            return SyslogConnection(channel: channel, isDatagram: false)
        }
    }

    /// False once the peer or the system has closed the connection.
    var isOpen: Bool { channel.isActive }

    /// Writes messages, each framed for the kind of connection, and returns when the system has taken them.
    ///
    /// - Throws: an error of the system or of TLS, also when it takes longer than ten seconds.
    func send(_ messages: [String]) async throws {
        let channel = channel
        let deadline = channel.eventLoop.scheduleTask(in: Self.writeTimeout) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        if isDatagram {
            for message in messages { try await channel.writeAndFlush(ByteBuffer(string: message)).get() }
        } else {
            try await channel.writeAndFlush(ByteBuffer(string: messages.joined())).get()
        }
    }

    func close() async { try? await channel.close().get() }
}
