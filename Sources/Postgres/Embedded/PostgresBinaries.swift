import FoundationEssentials

/// One installed PostgreSQL: where its programs are and which major version they are.
package struct PostgresBinaries: Sendable, Equatable {
    /// The oldest major version that the schema's SQL and our client are tested with.
    static let oldestVersion = 15

    var directory: String
    var version: Int

    /// The programs to use: for an existing cluster of `version` only the same major version will do.
    ///
    /// `POSTGRES_BIN` names the directory and then is the only candidate; otherwise Debian's directories, newest first,
    /// and the directories of PATH.
    /// - Throws: `noBinaries`, `wrongVersion`.
    static func find(version: Int?, environment: [String: String] = ProcessInfo.processInfo.environment)
        async throws(EmbeddedClusterError) -> PostgresBinaries
    {
        var found: [PostgresBinaries] = []
        for directory in candidates(environment) {
            guard let binaries = try await examine(directory), binaries.version >= oldestVersion else { continue }
            if version == nil || binaries.version == version { return binaries }
            found.append(binaries)
        }
        guard let version, !found.isEmpty else {
            throw EmbeddedClusterError(
                .noBinaries,
                "no PostgreSQL \(version.map(String.init) ?? "\(oldestVersion) or newer") found in /usr/lib/postgresql, "
                    + "PATH or POSTGRES_BIN: install the package postgresql, or give --database-url"
            )
        }
        let versions = found.map { String($0.version) }.joined(separator: ", ")
        throw EmbeddedClusterError(
            .wrongVersion,
            "the cluster was made by PostgreSQL \(version), but only \(versions) is installed: install "
                + "postgresql-\(version); to move to another version then, run 'push-gateway database backup --out FILE', "
                + "and 'push-gateway database restore FILE' with a new --data-dir (docs/operations.md, \"A newer PostgreSQL\")"
        )
    }

    /// Directories that may hold PostgreSQL's programs, the likeliest first.
    package static func candidates(_ environment: [String: String]) -> [String] {
        if let chosen = environment["POSTGRES_BIN"], !chosen.isEmpty { return [chosen] }
        let root = "/usr/lib/postgresql"
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let numbers = installed.compactMap { Int($0) }.sorted(by: >)
        let path = (environment["PATH"] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        return numbers.map { "\(root)/\($0)/bin" } + path
    }

    /// Nil when a program is missing there, or speaks of no version.
    private static func examine(_ directory: String) async throws(EmbeddedClusterError) -> PostgresBinaries? {
        for program in ["postgres", "initdb", "pg_ctl"]
        where !FileManager.default.isExecutableFile(atPath: "\(directory)/\(program)") { return nil }
        let ending = try await ClusterCommand.run("\(directory)/postgres", ["-V"], as: nil, in: "/")
        guard let version = version(in: ending.output) else { return nil }
        return PostgresBinaries(directory: directory, version: version)
    }

    /// The major version in `postgres (PostgreSQL) 15.20 (Debian …)`.
    package static func version(in text: String) -> Int? {
        guard let name = text.firstRange(of: "(PostgreSQL) ") else { return nil }
        return Int(text[name.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}
