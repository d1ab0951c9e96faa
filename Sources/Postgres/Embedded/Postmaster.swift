import FoundationEssentials
import Glibc

/// The running server of a data directory, as its `postmaster.pid` tells.
struct Postmaster: Sendable, Equatable {
    var processID: pid_t
    var socketDirectory: String

    /// The live server of `data`; nil when there is none, or when the file speaks of a process that is something else.
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

    /// False for a zombie too: it has ended, whoever is to blame for not collecting it.
    var isAlive: Bool {
        guard kill(processID, 0) == 0 || errno == EPERM else { return false }
        guard let status = ClusterFiles.read("/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return false
        }
        return status[name...].dropFirst(2).first != "Z"
    }

    /// A process ID is reused after a reboot; the server works in its data directory, a stranger does not.
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

    /// Stops the server: first politely to those connected (SIGINT, "fast"), then at once (SIGQUIT).
    ///
    /// Both lose nothing that was committed; the second means recovery at the next start.
    /// - Throws: `failed` when it lives on.
    func stop(within patience: Duration) async throws(EmbeddedClusterError) {
        kill(processID, SIGINT)
        if await hasEnded(within: patience) { return }
        kill(processID, SIGQUIT)
        if await hasEnded(within: .seconds(10)) { return }
        throw EmbeddedClusterError(.failed, "PostgreSQL (process \(processID)) does not stop")
    }

    /// Nothing tells the end of a process that is not our child, so it is asked for.
    private func hasEnded(within patience: Duration) async -> Bool {
        let deadline = ContinuousClock.now + patience
        while isAlive {
            if ContinuousClock.now >= deadline { return false }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { usleep(5000) }
        }
        return true
    }
}
