import EngineStore
import Foundation
import Logging
import Model
import NIOSSL
import Observability
import ServiceLifecycle
import Store

/// Sends the rows of the audit to a collector of syslog messages, in the order of each tenant. One node does it at a time. A row is sent at least once: after
/// a broken connection or a crash, the rows that may not have arrived are sent again.
struct AuditSyslogService: Service {
    /// A second, while there is nothing to send.
    static let period = Duration.seconds(1)
    /// 200 rows of some hundred bytes to some kilobytes are in memory at once.
    static let pageSize = 200
    /// Five seconds without an acknowledgement of the peer's system, and the system closes the connection.
    static let ackSeconds = 5
    /// Waits between tries to connect: from one second, doubled up to a minute.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(60)

    let address: SyslogAddress
    /// Nil: the system's authorities.
    let tls: NIOSSLContext?
    let messages: SyslogMessage
    let keeper: PostgresAuditKeeper
    let store: PostgresAuditStore
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var wait = Self.firstWait
            while !Task.isCancelled {
                do {
                    try await push { wait = Self.firstWait }
                    try? await Task.sleep(for: Self.period)
                } catch {
                    logger.error(
                        "the audit cannot be sent to audit.syslog; the node tries again",
                        metadata: [LogKey.error: "\(error)", "seconds": "\(wait.components.seconds)"]
                    )
                    try? await Task.sleep(for: wait)
                    wait = min(wait * 2, Self.longestWait)
                }
            }
        }
    }

    /// Sends on one connection until another node does it, or the task is cancelled.
    ///
    /// - Parameter succeeded: called after rows have arrived.
    /// - Throws: `StoreError`, or an error of the connection.
    private func push(_ succeeded: () -> Void) async throws {
        guard try await keeper.behind(.collector) != nil else { return }
        let connection = try await SyslogConnection.open(address, tls, ackSeconds: Self.ackSeconds)
        do {
            try await push(on: connection, succeeded)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    private func push(on connection: SyslogConnection, _ succeeded: () -> Void) async throws {
        let start = ContinuousClock.now
        var progress = PushProgress(confirmSeconds: address.isStream ? Double(Self.ackSeconds) + 1 : 0)
        func seconds() -> Double { Double((ContinuousClock.now - start).milliseconds) / 1000 }
        while !Task.isCancelled, let tenants = try await keeper.behind(.collector) {
            var isIdle = true
            for behind in tenants where !progress.isFull {
                let position = progress.start(behind.tenant, after: behind.after)
                let links = try await store.links(in: behind.tenant, after: position, limit: Self.pageSize)
                guard let last = links.last else { continue }
                isIdle = false
                try await connection.send(links.map { message($0, behind.tenant) })
                progress.written(behind.tenant, upTo: last.position, at: seconds())
            }
            guard connection.isOpen else { throw SyslogFailure.closed }
            for (tenant, position) in progress.arrived(at: seconds()) {
                try await keeper.noteCopied(.collector, upTo: position, in: tenant)
                succeeded()
            }
            if isIdle { try? await Task.sleep(for: Self.period) }
        }
    }

    private func message(_ link: AuditLink, _ tenant: TenantID) -> String {
        address.isStream ? messages.frame(link, tenant) : messages.text(link, tenant)
    }
}

enum SyslogFailure: Error, CustomStringConvertible {
    case closed

    var description: String { "the collector, or the system for lack of acknowledgements, has closed the connection" }
}

extension SyslogAddress {
    fileprivate var isStream: Bool {
        switch self {
        case .stream: true
        case .datagram: false
        }
    }
}
