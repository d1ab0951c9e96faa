package import Logging

/// One session with the server, as an actor with its own thread.
///
/// Made by `PostgresPool`, or directly for migrations and tests. The session ends when the last reference is gone. Calls run one after the
/// other; libpq blocks only the thread of this actor.
package actor PostgresConnection {
    /// The result of a run, for the pool.
    struct Performance: Sendable {
        var results: [Result<[ResultSet], PostgresError>] = []

        /// Whether the session may serve another call.
        var isReusable = true

        /// The session had ended before this call: nothing was sent, so the pool can use another session.
        var wasStale = false
    }

    private nonisolated let executor: ThreadExecutor
    private nonisolated let cancellation: CancellationSignal
    private nonisolated let configuration: PostgresConfiguration
    private nonisolated let logger: Logger
    private var session: PostgresSession?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private init(_ configuration: PostgresConfiguration, logger: Logger) throws(PostgresError) {
        self.configuration = configuration
        self.logger = logger
        cancellation = try CancellationSignal()
        executor = try ThreadExecutor.start()
    }

    deinit { executor.stop() }

    /// Opens a session within `configuration.connectTimeout`, or until `deadline` if that is earlier.
    ///
    /// - Throws: `cannotConnect`, `authenticationFailed`, `shuttingDown`, `overloaded`, `timeout`, `cancelled`.
    package static func connect(
        _ configuration: PostgresConfiguration,
        logger: Logger,
        deadline: ContinuousClock.Instant? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(configuration, logger: logger)
        let own = ContinuousClock.now + configuration.connectTimeout
        let end = deadline.map { min($0, own) } ?? own
        try await connection.cancellable { connection, ticket in await connection.open(until: end, ticket) }.get()
        return connection
    }

    /// Runs one transaction.
    ///
    /// - Throws: any code of the server or the client; see `PostgresError.Code`.
    package nonisolated func run(_ transaction: Transaction, timeout: Duration? = nil) async throws(PostgresError)
        -> [ResultSet]
    {
        let results = try await run(pipeline: [transaction], timeout: timeout)
        guard let result = results.first else { throw PostgresError(.other) }
        return try result.get()
    }

    /// Runs independent transactions, in one round trip if none of them has steps.
    ///
    /// - Throws: only when nothing could be sent. The failure of a transaction is in its result.
    package nonisolated func run(pipeline: [Transaction], timeout: Duration? = nil) async throws(PostgresError)
        -> [Result<[ResultSet], PostgresError>]
    {
        let performance = await perform(pipeline, until: deadline(timeout))
        if performance.wasStale { throw PostgresError(.connectionLost) }
        return performance.results
    }

    /// Runs many statements without parameters, by the simple protocol. Must not be used for SQL that contains a caller's text.
    ///
    /// - Throws: the first failure. A transaction left open is rolled back.
    package nonisolated func script(_ sql: String, timeout: Duration? = nil) async throws(PostgresError) {
        let end = deadline(timeout)
        try await cancellable { connection, ticket in await connection.script(sql, Deadline.Terms(end, ticket)) }.get()
    }

    /// Ends the session after the current run. Every later call throws `closed`.
    package func close() { session = nil }

    // MARK: For the pool

    /// With `isGroup`, all transactions wait for one flush; see `PostgresSession.run(group:_:)`.
    nonisolated func perform(
        _ transactions: [Transaction],
        asGroup isGroup: Bool = false,
        until deadline: ContinuousClock.Instant
    ) async -> Performance {
        await cancellable { connection, ticket in
            await connection.perform(transactions, asGroup: isGroup, Deadline.Terms(deadline, ticket))
        }
    }

    // MARK: On the thread

    private func open(until deadline: ContinuousClock.Instant, _ ticket: UInt64) -> Result<Void, PostgresError> {
        do throws(PostgresError) {
            session = try PostgresSession(
                configuration,
                cancellation: cancellation,
                deadline: Deadline(until: deadline, ticket: ticket),
                logger: logger
            )
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func perform(_ transactions: [Transaction], asGroup isGroup: Bool, _ terms: Deadline.Terms) -> Performance {
        func all(_ error: PostgresError) -> [Result<[ResultSet], PostgresError>] {
            transactions.map { _ in .failure(error) }
        }
        guard let session else { return Performance(results: all(PostgresError(.closed)), isReusable: false) }
        if let error = notBegun(terms) { return Performance(results: all(error), isReusable: true) }
        if session.isStale() {
            return Performance(results: all(PostgresError(.connectionLost)), isReusable: false, wasStale: true)
        }
        let deadline = Deadline(until: terms.instant, ticket: terms.ticket)
        let results = isGroup ? session.run(group: transactions, deadline) : session.run(transactions, deadline)
        return Performance(results: results, isReusable: session.isUsable)
    }

    private func script(_ sql: String, _ terms: Deadline.Terms) -> Result<Void, PostgresError> {
        guard let session, session.isUsable else { return .failure(PostgresError(.closed)) }
        do throws(PostgresError) {
            return .success(try session.script(sql, Deadline(until: terms.instant, ticket: terms.ticket)))
        } catch {
            return .failure(error)
        }
    }

    /// Checks whether the call was cancelled or timed out before its turn.
    private func notBegun(_ terms: Deadline.Terms) -> PostgresError? {
        if cancellation.isCancelled(terms.ticket) { return PostgresError(.cancelled) }
        return ContinuousClock.now >= terms.instant ? PostgresError(.timeout) : nil
    }

    // MARK: Helpers

    private nonisolated func deadline(_ timeout: Duration?) -> ContinuousClock.Instant {
        .now + (timeout ?? configuration.batchTimeout)
    }

    /// Runs `body` with a ticket that is cancelled together with the task.
    private nonisolated func cancellable<Value: Sendable>(
        _ body: @Sendable (PostgresConnection, UInt64) async -> Value
    ) async -> Value {
        let ticket = cancellation.nextTicket()
        return await withTaskCancellationHandler {
            await body(self, ticket)
        } onCancel: {
            cancellation.cancel(ticket)
        }
    }
}

extension Deadline {
    /// The values from which the session's thread makes a `Deadline`.
    struct Terms: Sendable {
        var instant: ContinuousClock.Instant
        var ticket: UInt64

        init(_ instant: ContinuousClock.Instant, _ ticket: UInt64) {
            self.instant = instant
            self.ticket = ticket
        }
    }
}
