import APNs
import Foundation
import GatewayHTTP
import Logging
import ServiceLifecycle
import UnixSignals

/// Keeps the transport's connections open until all senders have drained, then closes them.
struct TransportService: Service {
    let transport: APNsTransport
    let drain: Duration

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await transport.run() }
            group.addTask {
                try? await gracefulShutdown()
                await transport.shutdown(deadline: drain)
            }
        }
    }
}

/// Restarts the private PostgreSQL when it dies, so that no operator has to.
struct ClusterService: Service {
    let database: Database
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown { await database.keepRunning(logger) }
    }
}

/// Writes the address file when every listener is open.
struct AddressFileService: Service {
    let addresses: BoundAddresses
    let path: String?
    let logger: Logger

    func run() async throws {
        await addresses.allOpen()
        if let path { try addresses.write(to: path) }
        logger.notice("ready")
        try? await gracefulShutdown()
    }
}

/// A second SIGTERM or SIGINT ends the process at once: the operator does not want to wait, and every accepted message is on disk.
struct SecondSignalService: Service {
    let logger: Logger

    func run() async throws {
        var seen = 0
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
            seen += 1
            guard seen >= 2 else { continue }
            logger.warning("second signal: exiting at once")
            exit(1)
        }
    }
}
