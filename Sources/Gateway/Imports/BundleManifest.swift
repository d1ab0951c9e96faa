import Crypto
import Foundation
package import Model

/// The list of the files of a tenant's export, with what must be true of each. It contains no secrets, and is not signed: what carries the files protects them.
package struct BundleManifest: Sendable, Hashable {
    /// The kind of a file's lines.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Lines of `DeviceLine`.
        case devices
        /// Lines of `UserLine`.
        case users
        /// Lines of `GroupLine`.
        case groups
        /// Lines of `InboxLine`.
        case inbox
    }

    /// One file.
    package struct File: Sendable, Hashable {
        package var kind: Kind
        package var app: AppID
        package var vendor: Vendor
        package var name: String
        /// The number of its lines.
        package var rows: Int
        /// Unit: bytes.
        package var size: Int
        /// SHA-256, lower-case hex.
        package var digest: String

        package init(
            kind: Kind,
            app: AppID,
            vendor: Vendor,
            name: String,
            rows: Int,
            size: Int,
            digest: String
        ) {
            self.kind = kind
            self.app = app
            self.vendor = vendor
            self.name = name
            self.rows = rows
            self.size = size
            self.digest = digest
        }
    }

    /// The reason why an export cannot be imported, as a sentence with the name of the file.
    package struct Fault: Error, Hashable {
        package var what: String
    }

    /// The version of the files that this program writes. Version 1 has no inboxes.
    package static let version = 2
    private static let readVersions: ClosedRange<Int64> = 1...2
    package static let fileName = "manifest.json"
    /// 4 MiB: some 20,000 files.
    package static let limitBytes = 4 << 20
    private static let format = "push-gateway tenant"

    /// When the export began.
    package var asOf: Timestamp
    package var files: [File]

    package init(asOf: Timestamp, files: [File] = []) {
        self.asOf = asOf
        self.files = files
    }

    // MARK: Text

    /// The text of the manifest, which ends with its own digest.
    package var text: String {
        var object = content
        object["digest"] = .string(Self.digest(object))
        return JSONWriter.text(.object(object)) + "\n"
    }

    private var content: JSONObject {
        [
            "format": .string(Self.format), "version": .int(Self.version), "asOf": .string(asOf.rfc3339),
            "files": .array(
                files.map { file in
                    [
                        "name": .string(file.name), "kind": .string(file.kind.rawValue),
                        "app": .string(file.app.rawValue), "vendor": .string(file.vendor.rawValue),
                        "rows": .int(file.rows), "bytes": .int(file.size), "sha256": .string(file.digest),
                    ]
                }
            ),
        ]
    }

    private static func digest(_ object: JSONObject) -> String {
        HexCoding.encode(Array(SHA256.hash(data: Data(JSONWriter.bytes(.object(object))))))
    }

    /// Reads a manifest.
    ///
    /// - Throws: `Fault`.
    package init(_ bytes: [UInt8]) throws(Fault) {
        let name = Self.fileName
        guard bytes.count <= Self.limitBytes, let json = try? JSONParser.parse(bytes), var object = json.object,
            object["format"] == .string(Self.format)
        else { throw Fault(what: "\(name) is not the manifest of a tenant's export") }
        guard let version = object["version"]?.int, Self.readVersions.contains(version) else {
            let version = object["version"]?.lenientString ?? "none"
            throw Fault(
                what: "\(name) has version \(version.prefix(16)); this program reads versions 1 to \(Self.version)"
            )
        }
        let stated = object["digest"]
        object["digest"] = nil
        guard stated == .string(Self.digest(object)) else {
            throw Fault(what: "\(name) was changed: its digest is another one")
        }
        guard let asOf = object["asOf"]?.string.flatMap({ Timestamp(rfc3339: $0) }),
            let listed = object["files"]?.array
        else { throw Fault(what: "\(name) is not the manifest of a tenant's export") }
        var files: [File] = []
        for entry in listed {
            guard let file = Self.file(entry) else { throw Fault(what: "\(name) has an entry that is not a file") }
            files.append(file)
        }
        guard Set(files.map(\.name)).count == files.count else { throw Fault(what: "\(name) names a file twice") }
        self.init(asOf: asOf, files: files)
    }

    private static func file(_ json: JSON) -> File? {
        guard let kind = json["kind"]?.string.flatMap({ Kind(rawValue: $0) }), let app = json["app"]?.string,
            let vendor = json["vendor"]?.string, let name = json["name"]?.string, isName(name),
            let rows = json["rows"]?.int, let size = json["bytes"]?.int, rows >= 0, size >= 0,
            let digest = json["sha256"]?.string
        else { return nil }
        return File(
            kind: kind,
            app: AppID(app),
            vendor: Vendor(vendor),
            name: name,
            rows: Int(clamping: rows),
            size: Int(clamping: size),
            digest: digest
        )
    }

    /// The name of the file with this number. Names of apps are no names of files.
    package static func name(_ kind: Kind, _ number: Int) -> String { "\(kind.rawValue)-\(number).ndjson" }

    /// Whether a name is one that `name` makes: no name leads out of the directory.
    static func isName(_ text: String) -> Bool {
        guard text.hasSuffix(".ndjson"), text.utf8.count <= 64 else { return false }
        let parts = text.dropLast(".ndjson".count).split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && Kind(rawValue: String(parts[0])) != nil
            && !parts[1].isEmpty && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    // MARK: Checking

    /// Checks the files in a directory: all are there, and none was changed.
    ///
    /// - Throws: `Fault` with the name of the first file that is not as the manifest says.
    package func check(in directory: String) throws(Fault) {
        for file in files {
            guard let handle = FileHandle(forReadingAtPath: "\(directory)/\(file.name)") else {
                throw Fault(what: "\(file.name) is missing")
            }
            var meter = BundleMeter()
            do {
                while let data = try handle.read(upToCount: 262_144), !data.isEmpty { meter.add(Array(data)) }
            } catch {
                throw Fault(what: "\(file.name) cannot be read")
            }
            guard meter.size == file.size else {
                throw Fault(what: "\(file.name) has \(meter.size) bytes, not \(file.size)")
            }
            guard meter.digest == file.digest else {
                throw Fault(what: "\(file.name) was changed: its digest is another one")
            }
            guard meter.rows == file.rows else {
                throw Fault(what: "\(file.name) has \(meter.rows) rows, not \(file.rows)")
            }
        }
    }
}

/// Counts and digests the bytes of a file of an export.
package struct BundleMeter {
    private var hash = SHA256()
    package private(set) var size = 0
    package private(set) var rows = 0

    package init() {}

    package mutating func add(_ bytes: [UInt8]) {
        hash.update(data: bytes)
        size += bytes.count
        rows += bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// SHA-256 of all bytes, lower-case hex.
    package var digest: String { HexCoding.encode(Array(hash.finalize())) }
}
