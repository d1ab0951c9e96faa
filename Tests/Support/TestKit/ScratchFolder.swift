import Foundation

/// The folder in which tests create databases and worlds.
///
/// In memory where the machine has enough of it: a database consists of a thousand files, and creating and removing them on a disk takes longer than most
/// tests. A process that is killed loses nothing of a file in memory either, so tests of crashes show the same. The path is short, because the path of a
/// socket below it is limited to 107 bytes.
package enum ScratchFolder {
    /// Enough for the databases and logs of a run, and as much again for the programs. In bytes.
    private static let memoryNeeded: UInt64 = 10 << 30

    /// `GATEWAY_TEST_FOLDER`, otherwise /dev/shm or /tmp.
    package static let root: String = {
        if let named = ProcessInfo.processInfo.environment["GATEWAY_TEST_FOLDER"] { return named }
        let memory = "/dev/shm"
        return freeBytes(of: memory) >= memoryNeeded && availableMemory() >= memoryNeeded ? memory : "/tmp"
    }()

    /// 0 when the file system does not exist.
    private static func freeBytes(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value ?? 0
    }

    private static func availableMemory() -> UInt64 {
        let lines = (try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("MemAvailable:") }
        return (line?.split(separator: " ").dropFirst().first).flatMap { UInt64($0) }.map { $0 << 10 } ?? 0
    }
}
