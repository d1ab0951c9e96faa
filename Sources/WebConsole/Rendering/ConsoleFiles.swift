import FoundationEssentials
import Model

/// A file that browsers load. Its path contains a hash of its bytes, so that it may be kept for a year.
package struct Asset: Sendable, Hashable {
    /// `/assets/console-8d7c2b504f6e1a90.css`.
    package var path: String
    package var contentType: String
    package var bytes: [UInt8]
}

/// The files of the console are not those that this program needs.
package struct ConsoleFilesError: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String
}

/// The files of `Sources/WebConsole/Resources`: templates, styles, scripts and icons.
package struct ConsoleFiles: Sendable {
    /// The texts of the templates by name, without `.mustache`.
    package var templates: [String: String]
    /// The symbols of the icons, which every page contains.
    package var icons: String
    package var assets: [Asset]
    /// The path of an asset by its name, such as `console.css`.
    private var paths: [String: String]

    /// The modules that every page loads. Each works without the others.
    package static let scripts = ["frame.js", "palette.js", "live.js", "forms.js"]

    /// The name that SwiftPM gives the folder with the files of this target.
    private static let bundleName = "push-gateway_WebConsole.resources"

    /// The files that are installed with the program: next to it, or in `../share/push-gateway`.
    ///
    /// SwiftPM's own `Bundle.module` is not used: it contains the path of the build directory, and traps when the folder is missing.
    /// - Throws: `ConsoleFilesError`.
    package static func bundled() throws(ConsoleFilesError) -> ConsoleFiles {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw ConsoleFilesError(description: "/proc/self/exe cannot be read")
        }
        let folder = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        let candidates = ["\(folder)/\(bundleName)/Resources", "\(folder)/../share/push-gateway/Console"]
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw ConsoleFilesError(description: "neither \(candidates.joined(separator: " nor ")) exists")
        }
        return try load(from: found)
    }

    /// The files of a folder.
    ///
    /// - Throws: `ConsoleFilesError`.
    package static func load(from folder: String) throws(ConsoleFilesError) -> ConsoleFiles {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/templates") else {
            throw ConsoleFilesError(description: "\(folder)/templates cannot be read")
        }
        var templates: [String: String] = [:]
        for name in names where name.hasSuffix(".mustache") {
            let bytes = try bytes(of: "\(folder)/templates/\(name)")
            templates[String(name.dropLast(9))] = String(decoding: bytes, as: UTF8.self)
        }
        var assets: [Asset] = []
        var paths: [String: String] = [:]
        for (name, file) in [("console.css", "console.css"), ("icon.svg", "icon.svg")]
            + scripts.map({ ($0, "scripts/\($0)") })
        {
            let asset = try asset(name, try bytes(of: "\(folder)/\(file)"))
            paths[name] = asset.path
            assets.append(asset)
        }
        let icons = String(decoding: try bytes(of: "\(folder)/icons.svg"), as: UTF8.self)
        return ConsoleFiles(templates: templates, icons: icons, assets: assets, paths: paths)
    }

    /// The path of an asset; empty for another name.
    package func path(of name: String) -> String { paths[name] ?? "" }

    private static func asset(_ name: String, _ bytes: [UInt8]) throws(ConsoleFilesError) -> Asset {
        let parts = name.split(separator: ".")
        let types = ["css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"]
        guard parts.count == 2, let type = types[String(parts[1])], let hash = KeyedHash(key: hashKey) else {
            throw ConsoleFilesError(description: "\(name) has an unknown type")
        }
        let digits = String(hash(bytes), radix: 16)
        let coded = String(repeating: "0", count: 16 - digits.count) + digits
        return Asset(path: "/assets/\(parts[0])-\(coded).\(parts[1])", contentType: type, bytes: bytes)
    }

    /// Any fixed key: the hash tells versions apart, and protects nothing.
    private static let hashKey = [UInt8](repeating: 0, count: KeyedHash.keyBytes)

    private static func bytes(of path: String) throws(ConsoleFilesError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConsoleFilesError(description: "\(path) cannot be read")
        }
        return Array(data)
    }
}
