/// What may differ from one embedded cluster to the next.
package struct EmbeddedClusterOptions: Sendable {
    /// Sessions the server allows. Each costs it some megabytes once used.
    package var maximumConnections = 100

    /// How long the server may take to answer after a start; recovery after a crash is part of it.
    package var startTimeout: Duration = .seconds(60)

    /// How long a stop may wait for a checkpoint.
    package var stopTimeout: Duration = .seconds(30)

    /// A log file longer than this is put aside at the next start; one old file is kept.
    package var logBytes = 10 << 20

    package init() {}
}
