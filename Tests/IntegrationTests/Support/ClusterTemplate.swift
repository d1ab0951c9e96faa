import Foundation

/// A stopped embedded database with the current schema, made once per run by the program itself. A copy takes a fifth of the time of a new one, and most
/// worlds need only that; `ClusterTests` and the demo create databases.
actor ClusterTemplate {
    static let shared = ClusterTemplate()

    private let folder = TemplateFolder(prefix: "pgw-template-")
    private var making: Task<Void, any Error>?

    /// Copies the database into a data directory that has none.
    ///
    /// - Throws: when the program cannot make it.
    func copy(into data: String) async throws {
        let made = making ?? Task { try await make() }
        making = made
        try await made.value
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try await folder.run("/bin/cp", ["-a", "--reflink=auto", "\(folder.path)/postgres", data])
    }

    private func make() async throws {
        folder.removeFormer()
        // The account of the database must be able to enter it.
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o711]
        try FileManager.default.createDirectory(
            atPath: folder.path,
            withIntermediateDirectories: true,
            attributes: attributes
        )
        try await folder.run(World.programs + "/push-gateway", ["status", "--data-dir", folder.path])
    }
}
