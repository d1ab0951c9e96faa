/// Options of an embedded cluster.
package struct EmbeddedClusterOptions: Sendable {
    /// The maximum number of sessions. Each costs the server some megabytes once it is used.
    package var maximumConnections = 100

    /// How long the server may take to answer after a start, including recovery after a crash.
    package var startTimeout: Duration = .seconds(60)

    /// How long a stop may wait for a checkpoint.
    package var stopTimeout: Duration = .seconds(30)

    /// A longer log file is renamed at the next start. One old file is kept.
    package var logBytes = 10 << 20

    package init() {}
}
