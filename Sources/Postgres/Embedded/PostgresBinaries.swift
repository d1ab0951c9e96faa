import FoundationEssentials

/// One installed PostgreSQL: the directory of its programs and their major version.
package struct PostgresBinaries: Sendable, Equatable {
    /// The oldest major version with which the schema and the client are tested.
    static let oldestVersion = 15

    var directory: String
    var version: Int

    /// Finds the programs to use. An existing cluster of `version` needs the same major version.
    ///
    /// If `POSTGRES_BIN` is set, it is the only candidate; otherwise Debian's directories, newest first,
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
                "did not find PostgreSQL \(version.map(String.init) ?? "\(oldestVersion) or newer") in /usr/lib/postgresql, "
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

    /// Directories that may contain PostgreSQL's programs, the likeliest first.
    package static func candidates(_ environment: [String: String]) -> [String] {
        if let chosen = environment["POSTGRES_BIN"], !chosen.isEmpty { return [chosen] }
        let root = "/usr/lib/postgresql"
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let numbers = installed.compactMap { Int($0) }.sorted(by: >)
        let path = (environment["PATH"] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        return numbers.map { "\(root)/\($0)/bin" } + path
    }

    /// Returns nil when a program is missing, or prints no version.
    private static func examine(_ directory: String) async throws(EmbeddedClusterError) -> PostgresBinaries? {
        for program in ["postgres", "initdb"]
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
