package import PostgresClient

/// Why the schema could not be updated.
package struct MigrationError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package enum Code: Sendable, Equatable {
        /// The program's schema files are missing or not well-formed.
        case badFiles(String)
        /// A migration that this database has applied was changed afterwards.
        case checksumMismatch(version: Int, name: String)
        /// The database is older than the oldest version that this program can migrate.
        case databaseTooOld(databaseVersion: Int, oldestConvertible: Int)
        /// The schema is newer than this program and does not support it any longer.
        case databaseTooNew(databaseVersion: Int, oldestProgram: Int, programVersion: Int)
        /// Another process is migrating and did not finish in time.
        case locked
        /// The transaction that creates a new database failed and was rolled back.
        case baselineFailed
        /// The transaction with the expand parts of these versions and the changed routines failed and was rolled back.
        case expandFailed(versions: [Int])
        /// A later step of a migration failed; the steps before it stay.
        case stepFailed(version: Int, name: String, step: Int)
        /// The database did not answer.
        case database
    }

    package var code: Code

    /// The error of the database, if there was one.
    package var underlying: PostgresError?

    init(_ code: Code, underlying: PostgresError? = nil) {
        self.code = code
        self.underlying = underlying
    }

    package var description: String {
        let cause = underlying.map { ": \($0)" } ?? ""
        return sentence + cause
    }

    package var debugDescription: String {
        let cause = underlying.map { ": \($0.debugDescription)" } ?? ""
        return sentence + cause
    }

    private var sentence: String {
        switch code {
        case .badFiles(let what): "the schema files of this program cannot be used: \(what)"
        case .checksumMismatch(let version, let name):
            "migration \(version) (\(name)) was changed after this database applied it"
        case .databaseTooOld(let database, let oldest):
            "the schema is at version \(database), and this program can migrate from version \(oldest) on: "
                + "first run 'push-gateway database migrate' of the last program built for version \(oldest), then this one"
        case .databaseTooNew(let database, let oldest, let program):
            "the schema is at version \(database) and serves programs built for version \(oldest) or later; "
                + "this program is built for version \(program): use a newer program"
        case .locked: "another process is migrating this database"
        case .baselineFailed: "creating the schema failed and was rolled back"
        case .expandFailed(let versions) where versions.isEmpty: "updating the routines failed and was rolled back"
        case .expandFailed(let versions):
            "migrating to version \(versions.map(String.init).joined(separator: ", ")) failed and was rolled back"
        case .stepFailed(let version, let name, let step):
            "step \(step) of migration \(version) (\(name)) failed; run 'push-gateway database migrate' again to continue"
        case .database: "the schema version of the database could not be read"
        }
    }
}
