/// Bounds of one pool.
package struct PoolLimits: Sendable {
    /// Sessions at most. Each is a process at the server and a thread here.
    package var maximumConnections = 8

    /// Calls that may wait for a session. Above it we shed: a longer queue only turns every answer into a late one.
    package var maximumWaiters = 1024

    /// How long a call waits for a session, within its own time.
    package var waitTimeout: Duration = .seconds(5)

    /// Older sessions are replaced (up to a tenth earlier, so that not all go at once): a server's process only grows,
    /// and a new address behind a name is only found by connecting.
    package var maximumAge: Duration = .seconds(3600)

    /// Sessions idle for longer are closed; the next peak opens them again.
    package var maximumIdle: Duration = .seconds(300)

    /// How often a transaction that the server rolled back for others' sake (40001, 40P01) is repeated.
    package var repeatCount = 3

    package init() {}

    package init(maximumConnections: Int) { self.maximumConnections = maximumConnections }
}

/// What a pool is doing and has done.
package struct PoolStatistics: Sendable, Equatable {
    /// Sessions open or being opened.
    package var openCount = 0
    /// Sessions that nobody uses.
    package var idleCount = 0
    /// Calls that wait for a session.
    package var waitingCount = 0
    /// Sessions opened since the start.
    package var openedCount = 0
    /// Tries to open one that failed.
    package var openFailureCount = 0
    /// Calls turned away because too many waited, or that waited too long.
    package var shedCount = 0
    /// Sessions given up after an error, a cancellation or a timeout.
    package var discardedCount = 0
}
