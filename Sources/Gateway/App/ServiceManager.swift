import Foundation
import Logging
import NIOCore
import NIOPosix
import Observability

/// Reports the state of this node to the service manager that started it (systemd with `Type=notify`, Podman): one datagram for each state, to the socket that
/// `NOTIFY_SOCKET` names.
///
/// Without the variable nothing is sent. A report that cannot be sent is logged, and the node goes on: the service manager then decides by its time limits.
/// Source: sd_notify(3), systemd 252.
struct ServiceManager: Sendable {
    enum Report: String, Sendable, CaseIterable {
        /// All listeners are open.
        case ready = "READY=1\nSTATUS=Serving"
        /// Certificates and provisioning are read again. `ready` follows.
        case reloading = "RELOADING=1\nSTATUS=Reading certificates and provisioning again"
        /// Nothing new begins; work in progress ends.
        case stopping = "STOPPING=1\nSTATUS=Draining"
    }

    /// Two seconds: a local socket takes a datagram at once, unless its queue is full.
    private static let limit = TimeAmount.seconds(2)

    /// The path of the socket. Nil: nobody waits for reports.
    let socket: String?
    let logger: Logger

    /// - Parameters:
    ///   - environment: that of the process.
    ///   - logger: for reports that cannot be sent.
    init(environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger) {
        let named = environment["NOTIFY_SOCKET"] ?? ""
        socket = named.isEmpty ? nil : named
        self.logger = logger
    }

    /// Sends a report. Returns when the socket has taken it, or the attempt has failed.
    func report(_ report: Report) async {
        guard let socket else { return }
        do {
            // An address that begins with "@" is in the abstract namespace, which the network library does not support.
            guard socket.hasPrefix("/") else { throw IOError(errnoCode: EAFNOSUPPORT, reason: "not a path") }
            try await send(report.rawValue, to: socket)
        } catch {
            logger.warning(
                "the state could not be reported to the service manager (NOTIFY_SOCKET)",
                metadata: [LogKey.status: "\(report)", LogKey.address: "\(socket)", LogKey.error: "\(error)"]
            )
        }
    }

    private func send(_ text: String, to path: String) async throws {
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(unixDomainSocketPath: path).get()
        let deadline = channel.eventLoop.scheduleTask(in: Self.limit) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        do {
            try await channel.writeAndFlush(ByteBuffer(string: text)).get()
        } catch {
            try? await channel.close().get()
            throw error
        }
        try? await channel.close().get()
    }
}
