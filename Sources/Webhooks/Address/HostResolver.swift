import NIOCore
import NIOPosix

/// Finds the address of a name, freshly at every call. A seam, so that a test can be the name server.
package protocol HostResolver: Sendable {
    /// One address of `host`; nil when it has none.
    func address(of host: String) async -> IPAddress?
}

/// The system's resolver. It blocks, so it has threads of its own: as many as calls run at once, or one dead name server would hold up every call.
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
