import CommandSupport
import Foundation

/// Reads the resource usage of other processes from `/proc`. Missing values are zero, so that a benchmark continues.
enum ProcessUsage {
    /// User and system time, including that of ended children.
    static func cpuSeconds(_ process: Int32) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        // The fields start with the state, field 3 of proc(5); 14 to 17 are utime, stime, cutime, cstime.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14 else { return 0 }
        return fields[11...14].compactMap { Double($0) }.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    static func children(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { process in
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return false }
            return text[text.index(after: end)...].split(separator: " ").dropFirst().first == "\(parent)"
        }
    }

    /// The peak memory.
    static func peakMiB(_ process: Int32) -> Double { status("VmHWM:", of: process) }

    /// The present memory.
    static func residentMiB(_ process: Int32) -> Double { status("VmRSS:", of: process) }

    /// A size of `/proc/PID/status`, in MiB.
    private static func status(_ name: String, of process: Int32) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropFirst().first).flatMap { Double($0) }.map { $0 / 1024 } ?? 0
    }
}

/// The private PostgreSQL of a data directory.
enum ClusterProcess {
    /// - Throws: `StageFailure` when no server runs in the directory.
    static func postmaster(of directory: String) throws -> Int32 {
        let path = "\(directory)/data/postmaster.pid"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        guard let process = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw StageFailure("\(path) contains no process id")
        }
        return process
    }
}
