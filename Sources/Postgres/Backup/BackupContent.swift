import EmbeddedPostgres

/// A file that pg_restore reads: as it is, or decrypted while it reads.
struct BackupContent {
    let file: String
    /// Nil: the file is not encrypted.
    let keys: [BackupKey]?

    /// Runs pg_restore on the content.
    ///
    /// - Throws: `BackupError`.
    func restore(
        _ arguments: [String],
        environment: [String: String],
        with programs: ClientPrograms
    ) async throws(BackupError) -> ClusterCommand.Ending {
        guard let keys else {
            return try await programs.run("pg_restore", arguments + [file], environment: environment)
        }
        let reader = try EncryptedReader(file, keys)
        return try await programs.run(
            "pg_restore",
            arguments,
            environment: environment,
            input: { () throws(BackupError) in try reader.next() }
        )
    }
}
