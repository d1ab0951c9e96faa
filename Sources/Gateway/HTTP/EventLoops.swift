import Foundation
import NIOCore

/// How many event loops the process has.
package enum EventLoops {
    /// As many as cores it may use: NIO counts those that `taskset` or a service's `CPUAffinity=` took away, and loops that share a core only take turns.
    ///
    /// Once, before anything uses a loop: NIO ends a program that changes its mind.
    package static func fit() {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        guard let cores = allowedCores(status), (1..<System.coreCount).contains(cores) else { return }
        NIOSingletons.groupLoopCountSuggestion = cores
    }

    /// The cores in a line such as `Cpus_allowed_list: 0-3,8` of Linux's process status; nil without one.
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
