import APNs
import DeliveryEngine
import Foundation
import GatewayHTTP
import Logging
import Observability
import ServiceLifecycle
import UnixSignals

/// Keeps the transport's connections open until all senders have drained, then closes them.
struct TransportService: Service {
    let transport: APNsTransport
    let drain: Duration
    let shutdown: ShutdownProgress

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await transport.run() }
            group.addTask {
                try? await gracefulShutdown()
                await end()
            }
        }
    }

    /// Shuts the transport down, without its waits once the shutdown is hurried.
    private func end() async {
        await withDiscardingTaskGroup { group in
            let ending = Task { await transport.shutdown(deadline: drain) }
            group.addTask {
                await shutdown.hurried()
                ending.cancel()
            }
            await ending.value
            group.cancelAll()
        }
    }
}

/// Replaces the certificate of the HTTPS listeners when its files change. On SIGHUP it does so at once, and the provisioning is read again. It runs also
/// without HTTPS, because an untrapped SIGHUP would end the process.
struct ReloadService: Service {
    /// 10 s between looks at the files: a renewed certificate is in use long before the old one ends.
    static let interval = Duration.seconds(10)

    /// The certificates of the listeners that have TLS.
    let identities: [ListenerCertificate]
    let provisioning: ProvisioningService
    /// Trapped since before the node was ready.
    let hangups: UnixSignalsSequence
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await _ in hangups { await readAgain() }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.interval)) != nil { renew(isRequested: false) }
                }
            }
        }
    }

    private func readAgain() async {
        await manager.report(.reloading)
        renew(isRequested: true)
        if await provisioning.changed() {
            logger.notice("provisioning read again")
        } else {
            logger.warning("provisioning not read: the database does not answer; the node tries again")
        }
        await manager.report(.ready)
    }

    private func renew(isRequested: Bool) {
        for identity in identities { renew(identity, isRequested: isRequested) }
    }

    private func renew(_ identity: ListenerCertificate, isRequested: Bool) {
        do throws(ListenerCertificate.Fault) {
            if try identity.reload() {
                logger.notice("TLS certificate replaced")
            } else if isRequested {
                logger.notice("TLS certificate unchanged")
            }
        } catch {
            logger.error("TLS certificate not replaced; the old one stays in use", metadata: [LogKey.error: "\(error)"])
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

/// Writes the address file when every listener is open, and reports to the service manager that the node serves, and later that it stops.
struct AddressFileService: Service {
    let addresses: BoundAddresses
    let path: String?
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        await addresses.allOpen()
        if let path { try addresses.write(to: path) }
        logger.notice("ready")
        await manager.report(.ready)
        try? await gracefulShutdown()
        await manager.report(.stopping)
    }
}

/// Counts SIGTERM and SIGINT. The first one begins the drain (`ServiceGroup`), the second one ends its waits, and the third one ends the process at
/// once: the operator does not want to wait, and every accepted message is on disk.
struct StopSignalService: Service {
    let shutdown: ShutdownProgress
    let engine: DeliveryEngine
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
            switch shutdown.stage {
            case .running: shutdown.enter(.draining)
            case .draining:
                logger.warning("second signal: missing answers are not awaited")
                shutdown.enter(.hurried)
                engine.hurry()
            case .hurried:
                logger.warning("third signal: exiting at once")
                exit(1)
            }
        }
    }
}
