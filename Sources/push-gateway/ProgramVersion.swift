import Foundation
import HTTP2
import Model
import Observability
import PostgresClient

/// The text of `--version`: the version, the commit and the compiler of this build, and the libraries that it has loaded.
enum ProgramVersion {
    /// The file that scripts/package installs with the program. A build in a source tree has none.
    private static let file = "share/push-gateway/build.json"

    static var text: String { describe(facts()) }

    /// - Parameter facts: the content of the file; nil: there is none.
    /// - Returns: three lines.
    static func describe(_ facts: JSON?) -> String {
        // Programs and their files are copied, so that they may come from different builds.
        let own = facts?["version"]?.string == GatewayVersion.text ? facts : nil
        let commit = own?["commit"]?.string ?? "unknown, because this build is not a package"
        let swift = own?["swift"]?.string.map { "Swift \($0), " } ?? ""
        return """
            push-gateway \(GatewayVersion.text)
            commit \(commit)
            \(swift)OpenSSL \(LinkedLibraries.openSSL), nghttp2 \(LinkedLibraries.nghttp2), libpq \(LibpqVersion.text)
            """
    }

    private static func facts() -> JSON? {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        guard let folder = program?.split(separator: "/").dropLast(2).joined(separator: "/"),
            let content = FileManager.default.contents(atPath: "/\(folder)/\(file)")
        else { return nil }
        return try? JSONParser.parse(Array(content))
    }
}
