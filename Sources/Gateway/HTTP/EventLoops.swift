import Foundation
import NIOCore

/// The number of event loops of the process.
package enum EventLoops {
    /// Sets the number of event loops to the number of cores that the process may use. NIO's default also counts cores excluded by `taskset` or by a service's
    /// `CPUAffinity=`, and loops on one core only compete.
    ///
    /// Call it once, before the first use of a loop: NIO traps on a later change.
    package static func fit() {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        guard let cores = allowedCores(status), (1..<System.coreCount).contains(cores) else { return }
        NIOSingletons.groupLoopCountSuggestion = cores
    }

    /// The number of cores in a line such as `Cpus_allowed_list: 0-3,8` of Linux's process status; nil without such a line.
    package static func allowedCores(_ status: String) -> Int? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") }),
            let list = line.split(separator: ":").last
        else { return nil }
        var count = 0
        for range in list.split(separator: ",") {
            let ends = range.split(separator: "-").map { Int($0.filter { !$0.isWhitespace }) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, first >= 0, last >= first, last < 1 << 20
            else { return nil }
            count += last - first + 1
        }
        return count
    }
}
