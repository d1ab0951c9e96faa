import Foundation
import SystemPackage

/// The file with the master keys, which only its owner may read. A change replaces the whole file at once.
package struct MasterKeyFile: Sendable {
    let path: String

    package init(path: String) { self.path = path }

    /// - Throws: `MasterKeyError`.
    package func keys() throws(MasterKeyError) -> [MasterKey] {
        guard let keys = try MasterKeySource.parse(try bytes()) else { throw .unreadable(path) }
        return keys
    }

    /// The content of the file.
    ///
    /// - Throws: `MasterKeyError.missing`, `.openToOthers`, `.unreadable`.
    package func bytes() throws(MasterKeyError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw .missing(path) }
        guard !isOpenToOthers else { throw .openToOthers(path) }
        guard data.count <= MasterKeySource.sizeLimit else { throw .unreadable(path) }
        return Array(data)
    }

    /// Creates the file with mode 0600.
    ///
    /// - Throws: `MasterKeyError.unwritable`, also when the file exists.
    package func create(_ key: MasterKey) throws(MasterKeyError) {
        do {
            let file = try FileDescriptor.open(
                FilePath(path),
                .writeOnly,
                options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            )
            try file.closeAfter { _ = try file.writeAll(Array((key.line + "\n").utf8)) }
        } catch {
            throw .unwritable(path, "\(error)")
        }
        flush(path)
    }

    /// Adds a key as the last line.
    ///
    /// - Throws: `MasterKeyError`; the file is unchanged.
    package func append(_ key: MasterKey) throws(MasterKeyError) {
        try change { (text) in
            let start = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
            return start + key.line + "\n"
        }
    }

    /// Removes the line of a key. Comments stay.
    ///
    /// - Throws: `MasterKeyError`; the file is unchanged.
    package func remove(_ id: String) throws(MasterKeyError) {
        try change { (text) in
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return lines.filter { KeyLine($0)?.id != id }.joined(separator: "\n")
        }
    }

    /// Replaces the content under a lock, so that two commands do not overwrite each other's change.
    private func change(_ edit: (String) -> String) throws(MasterKeyError) {
        let target = URL(filePath: path).resolvingSymlinksInPath()
        let facts = facts(of: target)
        guard let lock = try? FileDescriptor.open(FilePath(target.path(percentEncoded: false)), .readOnly) else {
            throw .missing(path)
        }
        defer { try? lock.close() }
        guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw .unwritable(path, "another command is changing it")
        }
        // A replaced file is another one, and the lock is on the old one.
        guard self.facts(of: target)[.systemFileNumber] as? Int == facts[.systemFileNumber] as? Int else {
            throw .unwritable(path, "another command has changed it")
        }
        let text = edit(String(decoding: try bytes(), as: UTF8.self))
        do {
            // The new file has the mode that the mask of this process leaves. Only commands change the file.
            let mask = umask(0o077)
            defer { umask(mask) }
            try Data(text.utf8).write(to: target, options: .atomic)
            // A file that root changes stays the gateway's.
            let owners = facts.filter { [.ownerAccountID, .groupOwnerAccountID].contains($0.key) }
            if geteuid() == 0 {
                try FileManager.default.setAttributes(owners, ofItemAtPath: target.path(percentEncoded: false))
            }
        } catch {
            throw .unwritable(path, "\(error.localizedDescription)")
        }
        flush(target.path(percentEncoded: false))
    }

    private func facts(of target: URL) -> [FileAttributeKey: Any] {
        (try? FileManager.default.attributesOfItem(atPath: target.path(percentEncoded: false))) ?? [:]
    }

    /// Writes the file and its name to the disk, before anything is sealed with its keys.
    private func flush(_ target: String) {
        for path in [target, (target as NSString).deletingLastPathComponent] {
            guard let file = try? FileDescriptor.open(FilePath(path), .readOnly) else { continue }
            try? FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false).synchronize()
            try? file.close()
        }
    }

    /// Whether the group or other users may read or change the file that the path leads to.
    private var isOpenToOthers: Bool {
        let file = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        let mode = (try? FileManager.default.attributesOfItem(atPath: file))?[.posixPermissions] as? Int
        return mode.map { $0 & 0o077 != 0 } ?? false
    }
}
