import Foundation
import Model

/// Where the master keys come from: a file, or the output of a command of the operator (KMS, PKCS#11, Vault).
///
/// Both contain one key per line, the oldest first: `v2:` and 64 hex digits, or 64 hex digits for a key of the first versions. Empty lines and lines that begin
/// with `#` are skipped.
package enum MasterKeySource: Sendable, Hashable {
    case file(String)
    case command(String)

    /// 64 KiB: eight keys with long comments.
    static let sizeLimit = 64 * 1024
    /// 10 s for the command.
    package static let timeLimit = Duration.seconds(10)

    /// Reads the keys. An absent file is created with one new key if `createIfMissing` is true. A command may take until `limit`.
    ///
    /// - Throws: `MasterKeyError`.
    package func keys(
        createIfMissing: Bool = false,
        within limit: Duration = timeLimit
    ) async throws(MasterKeyError) -> [MasterKey] {
        switch self {
        case .command(let command):
            let output = try await MasterKeyProgram.output(of: command, within: limit)
            guard let keys = try Self.parse(output) else { throw .command(.unreadable) }
            return keys
        case .file(let path):
            if createIfMissing, !FileManager.default.fileExists(atPath: path) {
                let key = try MasterKey.random()
                try MasterKeyFile(path: path).create(key)
                return [key]
            }
            return try MasterKeyFile(path: path).keys()
        }
    }

    /// Reads the keys into a ring.
    ///
    /// - Throws: `MasterKeyError`.
    package func ring(createIfMissing: Bool = false) async throws(MasterKeyError) -> KeyRing {
        try KeyRing(try await keys(createIfMissing: createIfMissing))
    }

    /// The keys of a text; nil when there is none, or a line is not a key.
    ///
    /// - Throws: `MasterKeyError.wrongLength`.
    static func parse(_ text: [UInt8]) throws(MasterKeyError) -> [MasterKey]? {
        var keys: [MasterKey] = []
        for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let entry = KeyLine(line) else { continue }
            guard let bytes = HexCoding.decode(entry.hex) else { return nil }
            keys.append(try MasterKey(bytes: bytes, form: entry.form))
        }
        return keys.isEmpty ? nil : keys
    }
}

/// A line of the key file that should be a key.
struct KeyLine {
    var form: MasterKey.Form
    var hex: String

    /// Nil for an empty line or a comment.
    init?(_ line: Substring) {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
        let isDerived = text.hasPrefix(MasterKey.derivedPrefix)
        form = isDerived ? .derived : .raw
        hex = isDerived ? String(text.dropFirst(MasterKey.derivedPrefix.count)) : text
    }

    /// The id of the key; nil when the line is not a key.
    var id: String? {
        guard let bytes = HexCoding.decode(hex) else { return nil }
        return try? MasterKey(bytes: bytes, form: form).id
    }
}
