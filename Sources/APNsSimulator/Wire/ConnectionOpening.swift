import Logging
import NIOCore
import NIOSSL

/// Opens a connection from TCP to TLS, including the faults before the first byte.
struct ConnectionOpening: Sendable {
    let state: SimulatorState
    let context: NIOSSLContext
    let issuers: ClientAuthorities?

    /// 40: handshake_failure (RFC 8446 §6), the alert of a server that cannot agree on parameters.
    private static let usualAlert: UInt8 = 40

    /// Adds the handlers to a new channel.
    ///
    /// - Throws: `ChannelError` if there are too many connections or the simulator stops.
    func open(_ channel: any Channel, listener: ListenerKind) throws {
        guard let number = state.connections.add(channel, listener: listener) else {
            throw ChannelError.operationUnsupported
        }
        state.withLedger { $0.connectionOpened() }
        channel.closeFuture.whenComplete { [state] _ in
            state.connections.remove(number)
            state.withLedger { $0.connectionClosed() }
        }
        let fault = faultUponAccept(number)
        let socket = SocketHandler { socket in
            if let fault { Self.play(fault, socket) }
        }
        try channel.pipeline.syncOperations.addHandlers([
            socket,
            NIOSSLServerHandler(
                context: context,
                customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }
            ),
            HandshakeHandler(state: state, socket: socket, number: number, listener: listener, issuers: issuers),
        ])
    }

    private func faultUponAccept(_ number: Int) -> Fault? {
        guard state.configuration.mode == .script,
            let fault = state.takeScripted(ScriptOccasion(connection: number, moment: .accept))?.fault
        else { return nil }
        var batch = Ledger.Batch()
        batch.faults = [fault.name]
        let finished = batch
        state.withLedger { $0.commit(finished) }
        return fault
    }

    private static func play(_ fault: Fault, _ socket: SocketHandler) {
        switch fault {
        case .close: socket.end()
        case .tcpReset: socket.reset()
        case .tlsAlert(let code): socket.sendAlert(code ?? usualAlert)
        case .silence: socket.freeze(until: nil)
        case .freeze(let end): socket.freeze(until: end)
        case .slowHandshake(let length): socket.freeze(until: length)
        case .reset, .goingAway, .half, .settings, .starve, .raw, .shutDown: break
        }
    }
}
