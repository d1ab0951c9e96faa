package import Model
import NIOCore
import NIOPosix

/// Looks up the address of a name at every call. A protocol, so that a test can replace the name server.
package protocol HostResolver: Sendable {
    /// One address of `host`; nil if it has none.
    func address(of host: String) async -> IPAddress?
}

/// The system's resolver. It blocks, so it has its own threads: as many as there are concurrent calls, because otherwise one dead name server would
/// delay every call.
package struct SystemResolver: HostResolver {
    private let threads: NIOThreadPool

    /// A resolver with `threadCount` threads, which live as long as the process.
    package init(threadCount: Int = WebhookPolicy.defaultConcurrency) {
        threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
    }

    package func address(of host: String) async -> IPAddress? {
        let found = try? await threads.runIfActive { try SocketAddress.makeAddressResolvingHost(host, port: 0) }
        return found?.ipAddress.flatMap { IPAddress($0) }
    }
}
