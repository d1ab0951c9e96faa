/// Why the schema could not be brought up to date.
package struct MigrationError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What stands in the way.
    package enum Code: Sendable, Equatable {
        /// The files of this program are missing, or are not numbered 1, 2, 3 … without gaps.
        case badFiles(String)
        /// A file that this database has run has been changed since.
        case checksumMismatch(version: Int, name: String)
        /// The database has run migrations that this program does not know: the program is older.
        case databaseTooNew(databaseVersion: Int, programVersion: Int)
        /// Another process has been migrating for all our patience.
        case locked
        /// One file failed and was rolled back; those before it stand.
        case failed(version: Int, name: String)
        /// The database could not be asked.
        case database
    }

    package var code: Code

    /// The database's error, where there is one.
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
        case .badFiles(let what): "the migrations of this program are not usable: \(what)"
        case .checksumMismatch(let version, let name):
            "migration \(version) (\(name)) was applied in another form than this program has"
        case .databaseTooNew(let database, let program):
            "the database is at version \(database), this program knows \(program): use a newer program"
        case .locked: "another process is migrating this database"
        case .failed(let version, let name): "migration \(version) (\(name)) failed and was rolled back"
        case .database: "the database could not be asked about its version"
        }
    }
}
