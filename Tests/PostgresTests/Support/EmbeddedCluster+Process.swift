import NIOConcurrencyHelpers

@testable import EmbeddedPostgres

extension EmbeddedCluster {
    /// The directory of the socket.
    var socketDirectory: String { layout.socketDirectory }

    /// The process ID of the server.
    var processID: Int32 { postmaster.withLockedValue { $0.processID } }
}
