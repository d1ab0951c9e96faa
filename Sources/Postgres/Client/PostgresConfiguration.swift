/// How to reach a database, and how long anything there may take.
package struct PostgresConfiguration: Sendable {
    /// A libpq URL or conninfo string. May hold a password: never logged.
    package var connectionString: String

    /// What `pg_stat_activity` shows.
    package var applicationName = "push-gateway"

    /// How long opening a session may take, name look-up included.
    package var connectTimeout: Duration = .seconds(5)

    /// How long a batch may take when its caller names no time.
    package var batchTimeout: Duration = .seconds(30)

    /// The server's own limit on one statement: it holds even when we are gone. Longer than `batchTimeout`, so that
    /// normally ours speaks first.
    package var statementTimeout: Duration = .seconds(60)

    /// How long a statement waits for a lock. Below the batch's time: a stuck lock must name itself.
    package var lockTimeout: Duration = .seconds(10)

    /// When the server ends a session that left a transaction open: its snapshot would hold back vacuum.
    package var idleInTransactionTimeout: Duration = .seconds(30)

    /// When the kernel gives up on unacknowledged bytes; without it a vanished host costs 15 minutes.
    package var tcpUserTimeout: Duration = .seconds(10)

    /// Whether short writes that come together share one flush to disk (`PostgresPool.run(gathered:)`). Not where a commit's rows lie on another server than
    /// the one that is asked: the flush is of one server's log.
    package var sharesFlush = true

    /// Called on the caller's task with every statement of a pool's call and with its set form, but not with those that follow on a result (`NextStep`).
    /// Tests hold the statements to rules with it; nil in the program.
    package var inspect: (@Sendable (Statement) -> Void)?

    /// Server settings of the session; they win over those above.
    package var settings: [String: String] = [:]

    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// The settings sent at connection, ours and the caller's.
    var sessionSettings: [String: String] {
        func milliseconds(_ duration: Duration) -> String { String(max(duration.milliseconds, 1)) }
        return [
            "statement_timeout": milliseconds(statementTimeout),
            "lock_timeout": milliseconds(lockTimeout),
            "idle_in_transaction_session_timeout": milliseconds(idleInTransactionTimeout),
            // Literals of ours are quoted on this ground (SQLText).
            "standard_conforming_strings": "on",
            // Lets SET LOCAL of the tenant reach Citus workers; plain PostgreSQL takes an unknown prefix as it comes.
            "citus.propagate_set_commands": "local",
            "timezone": "UTC",
        ].merging(settings) { _, callers in callers }
    }

    /// `-c name=value …`, with the escapes that libpq's `options` wants.
    var options: String {
        sessionSettings.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
            return "-c \(name)=\(escaped)"
        }.joined(separator: " ")
    }
}

extension Duration {
    /// Whole milliseconds, rounded down; the ends of Int64 for what does not fit.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000_000_000
    }
}
