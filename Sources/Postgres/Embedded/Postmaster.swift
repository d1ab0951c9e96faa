import FoundationEssentials
import Glibc

/// The running server of a data directory, as recorded in its `postmaster.pid`.
struct Postmaster: Sendable, Equatable {
    var processID: pid_t
    var socketDirectory: String

    /// Returns the live server of `data`; nil when no server runs, or when the file names another program's process.
    static func running(in data: String) -> Postmaster? {
        guard let postmaster = parse(ClusterFiles.read("\(data)/postmaster.pid") ?? ""), postmaster.isAlive,
            postmaster.works(in: data)
        else { return nil }
        return postmaster
    }

    /// Lines: process, data directory, start time, port, socket directory, … (src/include/utils/pidfile.h).
    static func parse(_ text: String) -> Postmaster? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first, let processID = pid_t(first), processID > 1 else { return nil }
        return Postmaster(processID: processID, socketDirectory: lines.count > 4 ? lines[4] : "")
    }

    /// False also for a zombie: it has ended, even if its parent has not collected it.
    var isAlive: Bool {
        guard kill(processID, 0) == 0 || errno == EPERM else { return false }
        guard let status = ClusterFiles.read("/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return false
        }
        return status[name...].dropFirst(2).first != "Z"
    }

    /// Whether the process works in the data directory. A process ID is reused after a reboot, and another process has another working directory.
    private func works(in data: String) -> Bool {
        guard let directory = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(processID)/cwd")
        else {
            return false
        }
        var real = stat()
        var claimed = stat()
        guard unsafe stat(directory, &real) == 0, unsafe stat(data, &claimed) == 0 else { return false }
        return real.st_ino == claimed.st_ino && real.st_dev == claimed.st_dev
    }

    /// Stops the server: first with SIGINT ("fast"), then with SIGQUIT ("immediate").
    ///
    /// Neither loses committed data; the second requires recovery at the next start.
    /// - Throws: `failed` when the server does not stop.
    func stop(within timeout: Duration) async throws(EmbeddedClusterError) {
        kill(processID, SIGINT)
        if await hasEnded(within: timeout) { return }
        kill(processID, SIGQUIT)
        if await hasEnded(within: .seconds(10)) { return }
        throw EmbeddedClusterError(.failed, "PostgreSQL (process \(processID)) did not stop in time")
    }

    /// Polls, because the end of a process that is not a child is not reported.
    private func hasEnded(within timeout: Duration) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        while isAlive {
            if ContinuousClock.now >= deadline { return false }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { usleep(5000) }
        }
        return true
    }
}
