/// The limits of one pool.
package struct PoolLimits: Sendable {
    /// The maximum number of sessions. Each session is a process of the server and a thread of the gateway.
    package var maximumConnections = 8

    /// The maximum number of calls that wait for a session. Further calls are refused: a longer queue would only make every answer late.
    package var maximumWaiters = 1024

    /// How long a call waits for a session, within its own timeout.
    package var waitTimeout: Duration = .seconds(5)

    /// Older sessions are replaced (up to a tenth earlier, so that not all are replaced at once): the memory of a server process only grows,
    /// and a new address behind a host name is found only by connecting.
    package var maximumAge: Duration = .seconds(3600)

    /// Sessions that are idle for longer are closed. The next load peak opens new ones.
    package var maximumIdle: Duration = .seconds(300)

    /// How often a transaction is repeated that the server rolled back because of a concurrent transaction: 40001, 40P01, and 23514 for a partition that
    /// was attached meanwhile.
    package var repeatCount = 3

    package init() {}
}

/// The current state and the counters of a pool.
package struct PoolStatistics: Sendable, Equatable {
    /// Sessions open or being opened.
    package var openCount = 0
    /// Sessions that are not in use.
    package var idleCount = 0
    /// Calls that wait for a session.
    package var waitingCount = 0
    /// Sessions opened since the start.
    package var openedCount = 0
    /// Failed attempts to open a session.
    package var openFailureCount = 0
    /// Calls that were refused because too many calls waited, or that waited too long.
    package var shedCount = 0
    /// Sessions closed after an error, a cancellation or a timeout.
    package var discardedCount = 0
}
