/// Why a backup was not written or not read back. The text says what to do about it.
package struct BackupError: Error, Sendable, CustomStringConvertible {
    /// What stands in the way.
    package enum Code: Sendable, Equatable {
        /// The programs of a PostgreSQL at least as new as the server are not on this machine.
        case noPrograms
        /// There is nothing of ours in the database.
        case nothingThere
        /// The database to restore into holds a schema already.
        case notEmpty
        /// The file is there already, cannot be written, or is no backup of ours.
        case badFile
        /// The database could not be asked.
        case database
        /// pg_dump or pg_restore failed; a restore has left nothing behind.
        case failed
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
