package import Model
import PostgresClient
import Store

/// How the store is, over all tenants.
package struct StoreStatus: Sendable, Hashable {
    package var nodes: [NodeFacts]
    /// Slices that are due, or leased.
    package var backlog: [Lane: Int]
    /// The due time of the oldest slice that nobody took.
    package var oldestDue: Timestamp?
    package var stoppedCredentials: [StoppedCredential]
    package var partitions: [String]
    /// The first day that no partition waits for.
    package var coveredUntilDay: Int32
    /// More than 0 is an alarm: partitions were not made ahead.
    package var defaultPartitionRows: Int
    package var now: Timestamp
}

/// A running process.
package struct NodeFacts: Sendable, Hashable {
    package var id: NodeID
    package var startedAt: Timestamp
    package var seenAt: Timestamp
}

/// A credential that its peer refuses.
package struct StoppedCredential: Sendable, Hashable {
    package var key: CredentialKey
    package var reason: String
    package var since: Timestamp
}
