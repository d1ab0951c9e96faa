import Glibc

/// How to connect to a database, and the time limits that apply there.
package struct PostgresConfiguration: Sendable {
    /// A libpq URL or conninfo string. It may contain a password and is never logged.
    package var connectionString: String

    /// The name that `pg_stat_activity` shows.
    package var applicationName = "push-gateway"

    /// How long opening a session may take, including the name look-up.
    package var connectTimeout: Duration = .seconds(5)

    /// How long a batch may take when its caller sets no timeout.
    package var batchTimeout: Duration = .seconds(30)

    /// The server's own limit for one statement. It also applies when the gateway has crashed. It is longer than `batchTimeout`, so that
    /// the gateway's limit normally applies first.
    package var statementTimeout: Duration = .seconds(60)

    /// How long a statement waits for a lock. Shorter than the timeout of a batch, so that a blocked lock is reported as its own error.
    package var lockTimeout: Duration = .seconds(10)

    /// After this time the server ends a session that left a transaction open: its snapshot would hold back vacuum.
    package var idleInTransactionTimeout: Duration = .seconds(30)

    /// After this time the kernel gives up on unacknowledged bytes. Without it, a vanished host is detected after 15 minutes.
    package var tcpUserTimeout: Duration = .seconds(10)

    /// Whether short concurrent writes share one flush to disk (`PostgresPool.run(gathered:)`). Must be false when the rows of a commit are on another server
    /// than the one that is connected: a flush covers the log of one server.
    package var sharesFlush = true

    /// Called on the caller's task with the statements of each transaction of a pool, and with their batch forms, but not with statements that follow
    /// on a result (`NextStep`). Tests use it to check the rules for statements and locks; nil in the program.
    package var inspect: (@Sendable ([Statement]) -> Void)?

    /// Server settings of the session. They take precedence over those above.
    package var settings: [String: String] = [:]

    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// The settings sent at connection: the defaults and the caller's settings.
    var sessionSettings: [String: String] {
        func milliseconds(_ duration: Duration) -> String { String(max(duration.milliseconds, 1)) }
        return [
            "statement_timeout": milliseconds(statementTimeout),
            "lock_timeout": milliseconds(lockTimeout),
            "idle_in_transaction_session_timeout": milliseconds(idleInTransactionTimeout),
            // `SQLText` quotes literals under this assumption.
            "standard_conforming_strings": "on",
            // Makes SET LOCAL of the tenant reach Citus workers. PostgreSQL without Citus accepts the setting, because its prefix is unknown.
            "citus.propagate_set_commands": "local",
            "timezone": "UTC",
        ].merging(settings) { _, callers in callers }
    }

    /// `-c name=value …`, with the escapes that libpq's `options` requires.
    var options: String {
        sessionSettings.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
            return "-c \(name)=\(escaped)"
        }.joined(separator: " ")
    }
}

extension PostgresConfiguration {
    /// The settings of libpq that decide how the server is checked.
    enum TLSSetting {
        case mode, authorities

        var keyword: String { self == .mode ? "sslmode" : "sslrootcert" }
        var environment: String { self == .mode ? "PGSSLMODE" : "PGSSLROOTCERT" }
    }

    /// The `sslmode` of a connection that states its authorities (`sslrootcert`) and no mode: `verify-full`. libpq's own default accepts any server then, or
    /// one with another host's certificate.
    ///
    /// - Parameter value: a setting of the connection string; the environment is read here.
    /// - Returns: nil: the connection states a mode, or no authorities.
    static func impliedTLSMode(_ value: (TLSSetting) -> String?) -> String? {
        func stated(_ setting: TLSSetting) -> Bool {
            if value(setting)?.isEmpty == false { return true }
            guard let text = unsafe getenv(setting.environment) else { return false }
            return unsafe text.pointee != 0
        }
        return stated(.authorities) && !stated(.mode) ? "verify-full" : nil
    }
}

extension Duration {
    /// Whole milliseconds, rounded down and clamped to Int64.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000_000_000
    }
}
