import Foundation

/// An empty virtual environment of Python, made once per run: nearly all of the time of a new one is the installation of `pip`. A copy works at any place,
/// because it is used by its `bin/python` alone, which finds its packages next to itself.
actor PythonTemplate {
    static let shared = PythonTemplate()

    private let folder = TemplateFolder(prefix: "pgw-python-")
    private var making: Task<Void, any Error>?

    /// Copies the environment to a path at which nothing is.
    ///
    /// - Parameters:
    ///   - place: the path of the copy.
    ///   - program: the Python that makes the environment.
    /// - Throws: when Python has no `venv`.
    func copy(to place: String, madeBy program: String) async throws {
        let made = making ?? Task { try await make(program) }
        making = made
        try await made.value
        try await folder.run("/bin/cp", ["-a", "--reflink=auto", folder.path, place])
    }

    private func make(_ program: String) async throws {
        folder.removeFormer()
        try await folder.run(program, ["-m", "venv", folder.path])
    }
}
