package import Model
import PostgresClient
import Store

/// The status of the store over all tenants.
package struct StoreStatus: Sendable, Hashable {
    package var nodes: [NodeFacts]
    /// The numbers of slices that are due or leased.
    package var backlog: [Lane: Int]
    /// The due time of the oldest slice that no node has leased.
    package var oldestDue: Timestamp?
    package var stoppedCredentials: [StoppedCredential]
    package var partitions: [String]
    /// The first day without a prepared partition.
    package var coveredUntilDay: Int32
    /// More than 0 is an alarm: partitions were not created ahead.
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
