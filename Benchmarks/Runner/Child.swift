import FoundationEssentials
import Glibc

/// A child process that is pinned to a core. Its output goes to a file; its cost is measured from outside.
final class Child {
    /// The resources that the process used until its end.
    struct Cost {
        var status: Int32
        /// User and system time of all its threads, from start to end (wait4(2)).
        var cpuSeconds: Double
        /// `VmHWM` of /proc/PID/status (proc(5)). `ru_maxrss` is not used, because it starts with the memory of the parent process.
        var peakKiB: Int
    }

    let process: pid_t
    let outputFile: String
    private var peakKiB = 0
    private var hasEnded = false

    /// Starts a program by `taskset -c CORE`, which executes it in the same process.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - core: the core to which the process is pinned.
    ///   - outputFile: the file for its standard output; standard error goes to a second file.
    ///   - environment: additional variables, as `NAME=value`.
    /// - Throws: `BenchFailure`.
    init(_ command: [String], core: Int, outputFile: String, environment: [String] = []) throws {
        self.outputFile = outputFile
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let mode = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 1, outputFile, mode, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, outputFile + ".errors", mode, 0o600)
        let arguments = ["/usr/bin/taskset", "-c", String(core)] + command
        var own: [String] = environment
        for (name, value) in ProcessInfo.processInfo.environment { own.append("\(name)=\(value)") }
        var process = pid_t()
        let result = unsafe Child.withStrings(arguments) { arguments in
            unsafe Child.withStrings(own) {
                unsafe posix_spawn(&process, "/usr/bin/taskset", &actions, nil, arguments, $0)
            }
        }
        guard result == 0 else { throw BenchFailure("cannot start \(command[0])") }
        self.process = process
    }

    deinit { stop() }

    /// Its output so far.
    var output: String { Child.text(outputFile) }
    /// Its standard error so far.
    var errors: String { Child.text(outputFile + ".errors") }

    /// CPU time so far, of all its threads. Unit: seconds.
    var cpuSeconds: Double {
        // Fields 14 and 15 of proc(5), counted after the name, which may contain spaces.
        let text = Child.text("/proc/\(process)/stat")
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Waits until the process ends, and returns its cost.
    ///
    /// - Parameter limit: the process is ended after this number of seconds.
    /// - Throws: `BenchFailure` if the limit was reached.
    /// - Returns: the exit status and the cost.
    func wait(limit: Int) throws -> Cost {
        let start = ContinuousClock.now
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(process, &status, WNOHANG, &usage) == 0 {
            readPeak()
            usleep(10_000)
            if start.duration(to: .now) > .seconds(limit) {
                stop()
                throw BenchFailure("a run took longer than \(limit) s: \(errors)")
            }
        }
        hasEnded = true
        return Cost(
            status: status,
            cpuSeconds: Child.seconds(usage.ru_utime) + Child.seconds(usage.ru_stime),
            peakKiB: peakKiB
        )
    }

    /// Ends the process by SIGTERM, then by SIGKILL.
    func stop() {
        guard !hasEnded else { return }
        kill(process, SIGTERM)
        for round in 0..<300 {
            guard waitpid(process, nil, WNOHANG) == 0 else { break }
            if round == 200 { kill(process, SIGKILL) }
            usleep(10_000)
        }
        hasEnded = true
    }

    private func readPeak() {
        let text = Child.text("/proc/\(process)/status")
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM") }) else { return }
        peakKiB = max(peakKiB, Int(line.filter(\.isNumber)) ?? 0)
    }

    private static func text(_ file: String) -> String {
        (try? Data(contentsOf: URL(filePath: file))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// Passes strings as a null-terminated array of C strings.
    private static func withStrings(
        _ strings: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return -1 }
            return unsafe body(base)
        }
    }
}
