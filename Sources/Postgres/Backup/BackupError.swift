/// Why a backup was not written or not restored. The text suggests a remedy.
package struct BackupError: Error, Sendable, CustomStringConvertible {
    /// The kind of obstacle.
    package enum Code: Sendable, Equatable {
        /// This machine has no PostgreSQL programs that are at least as new as the server.
        case noPrograms
        /// The database has no gateway schema.
        case nothingThere
        /// The target database of a restore has a schema already.
        case notEmpty
        /// The file exists already, cannot be written, is not a backup of the gateway, or is not of the kind that the caller expects.
        case badFile
        /// The master key that encrypts the file is missing.
        case key
        /// The database could not be queried.
        case database
        /// pg_dump or pg_restore failed. A failed restore leaves nothing behind.
        case failed
    }

    package var code: Code
    package var description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
