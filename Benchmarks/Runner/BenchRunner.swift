import FoundationEssentials
import Glibc

/// `scripts/bench apns` and `scripts/bench memory`: starts servers and clients on their cores, alternating, and prints medians and ratios.
@main
enum BenchRunner {
    static func main() {
        do {
            guard let options = try RunnerOptions(CommandLine.arguments.dropFirst()) else {
                print(RunnerOptions.help)
                exit(0)
            }
            let stage = try Stage(options)
            defer { stage.remove() }
            let isGood =
                options.measuresMemory ? try MemoryRun(options, stage).run() : try LoadRun(options, stage).run()
            if !isGood { exit(1) }
        } catch {
            Progress.line("scripts/bench: \(error)")
            exit(2)
        }
    }
}

/// Prints progress to standard error: standard output contains only the table or the JSON.
enum Progress {
    static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe write(2, bytes, bytes.count)
    }
}

/// Why a run cannot continue.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
