extension PostgresError {
    /// The kind of error, in the caller's terms.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case connectionLost, cannotConnect, authenticationFailed, timeout, cancelled, overloaded, closed
            case uniqueViolation, foreignKeyViolation, checkViolation, notNullViolation
            case serializationFailure, deadlock, lockTimeout, partitionChanged
            case undefinedTable, undefinedColumn, undefinedFunction, syntaxError, insufficientPrivilege, invalidData
            case stalePlan, diskFull, readOnly, shuttingDown, shardMoved, raised, server
            case unexpectedNull, typeMismatch, noSuchColumn, unexpectedRowCount, abandoned, invalidParameter, other
        }

        private var name: Name

        private init(_ name: Name) { self.name = name }

        package var description: String { name.rawValue }

        /// The session ended while it was in use.
        package static let connectionLost = Code(.connectionLost)
        /// No session could be opened.
        package static let cannotConnect = Code(.cannotConnect)
        /// The server does not know the role or the database, or rejects the credentials.
        package static let authenticationFailed = Code(.authenticationFailed)
        /// The gateway's deadline or the server's `statement_timeout` passed.
        package static let timeout = Code(.timeout)
        /// The caller's task was cancelled.
        package static let cancelled = Code(.cancelled)
        /// Too many calls wait for a connection already, or this call waited too long.
        package static let overloaded = Code(.overloaded)
        /// The pool or the connection was closed by the gateway.
        package static let closed = Code(.closed)
        /// 23505, and 23P01 (exclusion).
        package static let uniqueViolation = Code(.uniqueViolation)
        /// 23503.
        package static let foreignKeyViolation = Code(.foreignKeyViolation)
        /// 23514: a CHECK of a table or a domain. A row that no partition takes has this code too: the table lacks a default partition then, and a repeat
        /// cannot help.
        package static let checkViolation = Code(.checkViolation)
        /// 23502.
        package static let notNullViolation = Code(.notNullViolation)
        /// 40001.
        package static let serializationFailure = Code(.serializationFailure)
        /// 40P01.
        package static let deadlock = Code(.deadlock)
        /// 55P03: `lock_timeout` passed, or NOWAIT.
        package static let lockTimeout = Code(.lockTimeout)
        /// 23514 for the bounds of a partition (`ServerErrorFields.violatesBounds`): the partitions changed while the statement ran.
        ///
        /// An `INSERT` chooses the partition by the catalog as it is when the statement begins. If that is the default partition, it then waits for its lock,
        /// which ATTACH PARTITION holds until its commit. PostgreSQL checks the bounds again with the lock (`ExecFindPartition` in execPartition.c does so
        /// for the default partition only, for this reason), and they exclude the row now. A repeat finds the new partition. A partition whose rows have
        /// reached the default partition meanwhile cannot be attached, which has this code too: the function that makes partitions decides again when it is
        /// repeated.
        ///
        /// Citus reports neither table nor constraint of an error on a worker. There a statement waits for the locks of all partitions at the coordinator
        /// before it is sent (`LockPartitionsForDistributedPlan`), so that the worker already has the new one.
        package static let partitionChanged = Code(.partitionChanged)
        /// 42P01.
        package static let undefinedTable = Code(.undefinedTable)
        /// 42703.
        package static let undefinedColumn = Code(.undefinedColumn)
        /// 42883.
        package static let undefinedFunction = Code(.undefinedFunction)
        /// 42601.
        package static let syntaxError = Code(.syntaxError)
        /// 42501: no grant, or row-level security refused the row.
        package static let insufficientPrivilege = Code(.insufficientPrivilege)
        /// Class 22: a value the server cannot take.
        package static let invalidData = Code(.invalidData)
        /// A prepared statement that the server no longer accepts. It is prepared again and repeated once, so callers rarely see this code.
        package static let stalePlan = Code(.stalePlan)
        /// 53100.
        package static let diskFull = Code(.diskFull)
        /// 25006: a standby, or `default_transaction_read_only`.
        package static let readOnly = Code(.readOnly)
        /// 57P01, 57P02, 57P03: the server is stopping or starting.
        package static let shuttingDown = Code(.shuttingDown)
        /// Citus moved or split the shard during the transaction.
        package static let shardMoved = Code(.shardMoved)
        /// P0001 or a code of the gateway's schema: RAISE in PL/pgSQL.
        package static let raised = Code(.raised)
        /// Any other SQLSTATE.
        package static let server = Code(.server)
        /// A NULL where the caller expected a value.
        package static let unexpectedNull = Code(.unexpectedNull)
        /// A column whose type is not the one the caller expected.
        package static let typeMismatch = Code(.typeMismatch)
        /// The result has no such column.
        package static let noSuchColumn = Code(.noSuchColumn)
        /// `only()` found no row or more than one.
        package static let unexpectedRowCount = Code(.unexpectedRowCount)
        /// The caller's `then` decided to roll back.
        package static let abandoned = Code(.abandoned)
        /// A parameter PostgreSQL cannot hold (a NUL in text), or too many of them.
        package static let invalidParameter = Code(.invalidParameter)
        /// libpq refused a call, or returned results out of order.
        package static let other = Code(.other)

        /// Whether the same call may succeed later.
        var isRetriable: Bool {
            switch name {
            case .connectionLost, .cannotConnect, .timeout, .overloaded, .serializationFailure, .deadlock, .lockTimeout,
                .partitionChanged, .stalePlan, .diskFull, .readOnly, .shuttingDown, .shardMoved:
                true
            case .authenticationFailed, .cancelled, .closed, .uniqueViolation, .foreignKeyViolation, .checkViolation,
                .notNullViolation, .undefinedTable, .undefinedColumn, .undefinedFunction, .syntaxError,
                .insufficientPrivilege, .invalidData, .raised, .server, .unexpectedNull, .typeMismatch, .noSuchColumn,
                .unexpectedRowCount, .abandoned, .invalidParameter, .other:
                false
            }
        }
    }
}

/// The fields of a server's error that determine its code (PostgreSQL manual, "Error and Notice Message Fields"). Only the sentence is in the server's
/// language.
struct ServerErrorFields {
    var sqlState: String
    var sentence = ""
    /// The table and the constraint that the error is about.
    var table: String?
    var constraint: String?
    /// The C function that raised the error.
    var sourceFunction: String?

    /// Whether a row violates the bounds of a partition, which PostgreSQL reports with the SQLSTATE of a CHECK.
    ///
    /// The bounds are a constraint without a name: `ExecPartitionCheckEmitError` (execMain.c) raises ERRCODE_CHECK_VIOLATION with `errtable`, which names the
    /// partition only. So do `ATRewriteTable` and `check_default_partition_contents` for rows that are in the default partition already. A CHECK names its
    /// constraint too (`errtableconstraint` in `ExecConstraints`, `errdomainconstraint`), and RAISE in PL/pgSQL and errors that Citus forwards name neither.
    /// `ExecFindPartition` names only a table as well, the partitioned one, when no partition takes the row.
    var violatesBounds: Bool {
        sqlState == "23514" && table != nil && constraint == nil && sourceFunction != "ExecFindPartition"
    }
}

extension PostgresError.Code {
    /// The code of a server's error.
    static func of(_ fields: ServerErrorFields) -> PostgresError.Code {
        if fields.sentence.contains("shard for the given value does not exist") { return .shardMoved }
        // "cached plan must not change result type" shares SQLSTATE 0A000 with every unsupported feature. The name of the C function that raised it
        // distinguishes it, in every language of the server.
        if fields.sqlState == "0A000", fields.sourceFunction == "RevalidateCachedQuery" { return .stalePlan }
        return fields.violatesBounds ? .partitionChanged : of(sqlState: fields.sqlState)
    }

    /// The code for an SQLSTATE (PostgreSQL 15 manual, appendix A, "PostgreSQL Error Codes").
    static func of(sqlState: String) -> PostgresError.Code {
        if let exact = exactCodes[sqlState] { return exact }
        switch sqlState.prefix(2) {
        case "08": return .connectionLost
        case "22": return .invalidData
        case "28": return .authenticationFailed
        case "40": return .serializationFailure
        case "53": return .overloaded
        case "P0": return .raised
        // The schema's own RAISE … USING ERRCODE: PostgreSQL leaves to users all class names that begin with a letter except P, F, H and X.
        case "GW": return .raised
        default: return .server
        }
    }

    private static let exactCodes: [String: PostgresError.Code] = [
        "23502": .notNullViolation,
        "23503": .foreignKeyViolation,
        "23505": .uniqueViolation,
        "23514": .checkViolation,
        "23P01": .uniqueViolation,
        "25006": .readOnly,
        "26000": .stalePlan,
        "3D000": .authenticationFailed,
        "40001": .serializationFailure,
        "40P01": .deadlock,
        "42501": .insufficientPrivilege,
        "42601": .syntaxError,
        "42703": .undefinedColumn,
        "42883": .undefinedFunction,
        "42P01": .undefinedTable,
        "53100": .diskFull,
        "53300": .overloaded,
        "55P03": .lockTimeout,
        "57014": .timeout,
        "57P01": .shuttingDown,
        "57P02": .shuttingDown,
        "57P03": .shuttingDown,
        "57P05": .shuttingDown,
    ]
}
