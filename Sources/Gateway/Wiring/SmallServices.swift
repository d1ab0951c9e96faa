import APNs
import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Keeps the transport's connections until everybody who sends has drained, then closes them.
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

/// Writes the address file once every listener is open.
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

/// A second SIGTERM or SIGINT ends the process at once: somebody is out of patience, and every accepted message is on disk.
enum SecondSignal {
    private static let count = NIOLockedValueBox(0)
    private static let sources = NIOLockedValueBox<[any DispatchSourceSignal]>([])

    static func leaveAtOnce(_ logger: Logger) {
        for signal in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler {
                let seen = count.withLockedValue { count in
                    count += 1
                    return count
                }
                if seen >= 2 {
                    logger.warning("second signal: leaving at once")
                    exit(1)
                }
            }
            source.resume()
            sources.withLockedValue { $0.append(source) }
        }
    }
}
