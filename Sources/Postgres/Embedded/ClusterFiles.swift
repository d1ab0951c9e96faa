import FoundationEssentials
import Glibc

/// Creates and reads files and directories of a cluster, with their owners.
package enum ClusterFiles {
    /// Creates a directory, or uses an existing one with the right owner.
    ///
    /// - Throws: `noAccess` when the path belongs to another user, `failed`.
    static func makeDirectory(_ path: String, mode: mode_t, owner: ClusterAccount?) throws(EmbeddedClusterError) {
        let userID = owner?.userID ?? geteuid()
        if unsafe mkdir(path, mode) == 0 {
            if let owner, owner.differsFromOurs, unsafe chown(path, owner.userID, owner.groupID) != 0 {
                throw EmbeddedClusterError(.failed, "\(path) could not be assigned to \(owner.name): \(reason())")
            }
        } else if errno != EEXIST {
            throw EmbeddedClusterError(.failed, "\(path) could not be created: \(reason())")
        }
        var status = stat()
        // lstat, because in a shared directory another user may have placed a link with this name.
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == userID else {
            throw EmbeddedClusterError(.noAccess, "\(path) is not a directory of user \(owner?.name ?? "\(userID)")")
        }
        if status.st_mode & 0o7777 != mode, unsafe chmod(path, mode) != 0 {
            throw EmbeddedClusterError(.failed, "\(path) could not be made private: \(reason())")
        }
    }

    /// Creates the missing parents of a path. Other users may pass through them.
    ///
    /// - Throws: `failed`.
    static func makeParents(of path: String) throws(EmbeddedClusterError) {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += "/\(part)"
            if unsafe mkdir(parent, 0o711) != 0, errno != EEXIST {
                throw EmbeddedClusterError(.failed, "\(parent) could not be created: \(reason())")
            }
        }
    }

    /// Throws if the account cannot reach the path, and names the directory that prevents it.
    ///
    /// - Throws: `noAccess`.
    static func checkPassage(to path: String, for account: ClusterAccount) throws(EmbeddedClusterError) {
        guard account.differsFromOurs else { return }
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += "/\(part)"
            var status = stat()
            guard unsafe stat(parent, &status) == 0 else { continue }
            let bit: mode_t =
                status.st_uid == account.userID ? S_IXUSR : status.st_gid == account.groupID ? S_IXGRP : S_IXOTH
            if status.st_mode & bit == 0 {
                throw EmbeddedClusterError(
                    .noAccess,
                    "PostgreSQL runs as \(account.name), which cannot enter \(parent) on the way to \(path): "
                        + "choose another --data-dir (for root: /var/lib/push-gateway), or chmod o+x \(parent)"
                )
            }
        }
    }

    /// Writes a file that the cluster's account can read, completely or not at all.
    ///
    /// - Throws: `failed`.
    static func write(_ text: String, to path: String) throws(EmbeddedClusterError) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw EmbeddedClusterError(.failed, "\(path) cannot be written: \(error)")
        }
        _ = unsafe chmod(path, 0o644)
    }

    /// Writes the names in a directory to the disk.
    ///
    /// - Throws: `failed`.
    static func sync(_ directory: String) throws(EmbeddedClusterError) {
        let handle = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if handle >= 0 { close(handle) } }
        guard handle >= 0, fsync(handle) == 0 else {
            throw EmbeddedClusterError(.failed, "\(directory) could not be written to the disk: \(reason())")
        }
    }

    /// Returns the content of a small text file; nil when it cannot be read.
    static func read(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The error message of the last system call.
    package static func reason() -> String {
        guard let text = unsafe strerror(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }
}

/// A lock file that is held for the life of this object. The system releases it when the process ends for any reason.
final class ClusterLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `inUse` when another process holds it, `failed`.
    init(path: String) throws(EmbeddedClusterError) {
        // Close on exec: a PostgreSQL that inherited the lock would hold it after the end of the gateway.
        let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw EmbeddedClusterError(.failed, "\(path) cannot be opened: \(ClusterFiles.reason())")
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let holder = ClusterFiles.read(path)?.split(separator: "\n").first.map { " (process \($0))" } ?? ""
            close(opened)
            throw EmbeddedClusterError(
                .inUse,
                "another gateway\(holder) uses \(path): stop it, or choose another --data-dir"
            )
        }
        descriptor = opened
        let note = Array("\(getpid())\n".utf8)
        if ftruncate(opened, 0) == 0 { _ = unsafe pwrite(opened, note, note.count, 0) }
    }

    deinit { close(descriptor) }
}
