import CommandSupport
import Foundation
import Testing

// Provisioning files that extend the demo's.
extension World {
    /// Writes each secret to the file `<name>.key`.
    func writeKeys(_ keys: [(name: String, secret: String)]) throws {
        for (name, secret) in keys {
            try secret.write(toFile: material.path("\(name).key"), atomically: true, encoding: .utf8)
        }
    }

    /// Applies the demo's provisioning file with further API keys of its tenant, before the others, and with `apps` at its end.
    ///
    /// - Parameters:
    ///   - file: the name of the new file.
    ///   - keys: lines of the list `apiKeys`.
    ///   - apps: further apps of the tenant, and further tenants.
    ///   - sourceLocation: of the call.
    /// - Throws: when a file cannot be read or written, or `apply` refuses it.
    func apply(
        _ file: String,
        keys: String,
        apps: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let text = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
            .replacing("    apiKeys:\n", with: "    apiKeys:\n" + keys)
        try (text + apps).write(toFile: material.path(file), atomically: true, encoding: .utf8)
        let applied = try await apply(file)
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
    }
}
