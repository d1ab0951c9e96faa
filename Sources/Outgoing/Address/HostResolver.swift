package import Model
import NIOCore
import NIOPosix

/// Looks up the address of a name at every call. A protocol, so that a test can replace the name server.
package protocol HostResolver: Sendable {
    /// One address of `host`; nil if it has none, or if none is known within `time`.
    func address(of host: String, within time: Duration) async -> IPAddress?
}

/// The system's resolver. It blocks, so it has its own threads: as many as there are concurrent calls, because otherwise one dead name server would
/// delay every call.
package struct SystemResolver: HostResolver {
    /// 64 threads: as many as a node makes concurrent calls of webhooks. A thread that waits for a name server uses some kilobytes.
    package static let defaultThreadCount = 64

    private let threads: NIOThreadPool

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
        threads.runIfActive(eventLoop: loop) {
            try SocketAddress.makeAddressResolvingHost(host, port: 0).ipAddress.flatMap { IPAddress($0) }
        }.whenComplete { result in
            end.cancel()
            found.succeed(try? result.get())
        }
        return try? await found.futureResult.get()
    }
}
