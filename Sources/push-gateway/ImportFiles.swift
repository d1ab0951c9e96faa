import CommandSupport
import Foundation
import Imports

/// Shows the progress of an import, relative to where it started.
struct ImportProgress {
    private var bar = ProgressBar()
    private let start: ImportCheckpoint
    /// The size of the source; nil when it is unknown. Unit: bytes.
    private let size: Int?

    init(start: ImportCheckpoint, size: Int?) {
        self.start = start
        self.size = size
    }

    mutating func show(_ state: DeviceImport.State, isLast: Bool = false) {
        let done = state.checkpoint
        let rows = done.created + done.updated + done.unchanged + done.older + done.rejected
        let before = start.created + start.updated + start.unchanged + start.older + start.rejected
        bar.show(
            done: done.offset - start.offset,
            of: size.map { $0 - start.offset },
            rows: rows - before,
            isLast: isLast
        )
    }
}

/// The file of rejected rows; created with the first of them.
final class RejectsFile {
    private let path: String
    private let keep: Int
    private var handle: FileHandle?
    /// The size of the file. Unit: bytes.
    private(set) var bytes: Int

    /// Truncates the file to its first `keep` bytes: the rest belongs to a batch after the checkpoint, which is imported again.
    init(path: String, keep: Int) {
        self.path = path
        self.keep = keep
        bytes = keep
    }

    func append(_ line: String) throws {
        let handle = try handle ?? open()
        self.handle = handle
        let data = Data((line + "\n").utf8)
        try handle.write(contentsOf: data)
        bytes += data.count
    }

    private func open() throws -> FileHandle {
        if keep == 0 || !FileManager.default.fileExists(atPath: path) {
            // The rows are personal data: only the user may read them.
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure("devices import: '\(path)' cannot be written; give another file with --rejects")
        }
        try handle.truncate(atOffset: UInt64(keep))
        return handle
    }
}
