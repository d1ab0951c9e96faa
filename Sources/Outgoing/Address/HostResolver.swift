package import Model
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Looks up the address of a name at every call. A protocol, so that a test can replace the name server.
package protocol HostResolver: Sendable {
    /// One address of `host`; nil if it has none, or if none is known within `time`.
    func address(of host: String, within time: Duration) async -> IPAddress?
}

/// The system's resolver. It blocks, so it has its own threads: as many as there are concurrent calls, because otherwise one dead name server would
/// delay every call. Callers of one name share its look-up, so that a dead name server holds one thread for each name.
package struct SystemResolver: HostResolver {
    /// 64 threads: as many as a node makes concurrent calls of webhooks. A thread that waits for a name server uses some kilobytes.
    package static let defaultThreadCount = 64

    private let threads: NIOThreadPool
    /// The look-ups in flight, by name.
    private let running = NIOLockedValueBox<[String: EventLoopFuture<IPAddress?>]>([:])

    /// A resolver with `threadCount` threads, which live as long as the process.
    package init(threadCount: Int = SystemResolver.defaultThreadCount) {
        threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
    }

    package func address(of host: String, within time: Duration) async -> IPAddress? {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let found = loop.makePromise(of: IPAddress?.self)
        // A look-up cannot be stopped. Its thread ends it later, and nobody waits for it any longer.
        let end = loop.scheduleTask(in: .milliseconds(time.milliseconds)) { found.succeed(nil) }
        lookUp(host).whenComplete { result in
            end.cancel()
            found.succeed(try? result.get())
        }
        return try? await found.futureResult.get()
    }

    /// The look-up of a name that is in flight, or a new one.
    private func lookUp(_ host: String) -> EventLoopFuture<IPAddress?> {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let address = loop.makePromise(of: IPAddress?.self)
        let earlier = running.withLockedValue { running -> EventLoopFuture<IPAddress?>? in
            if let earlier = running[host] { return earlier }
            running[host] = address.futureResult
            return nil
        }
        if let earlier {
            address.succeed(nil)
            return earlier
        }
        threads.runIfActive(eventLoop: loop) {
            try SocketAddress.makeAddressResolvingHost(host, port: 0).ipAddress.flatMap { IPAddress($0) }
        }.whenComplete { [running] result in
            running.withLockedValue { $0[host] = nil }
            address.succeed(try? result.get())
        }
        return address.futureResult
    }
}
