import CommandSupport
import ConsoleHTTP
import Foundation
import NIOConcurrencyHelpers
import Observability

/// People who have pages of the console open that update themselves.
struct ConsoleViewers: Sendable {
    /// The open pages of one account, and of one tenant, that the console permits.
    static let perAccount = LiveUpdates.perAccount
    static let most = LiveUpdates.perTenant
    /// Half a minute: a refused page is opened again after a second.
    private static let limit = Duration.seconds(30)
    /// A page that somebody else has open already is sent after 15 s at the latest.
    private static let firstLimit = Duration.seconds(60)
    /// 100 bytes: more than lines that keep a connection open, and less than any page.
    private static let leastPage = 100

    /// One of each account, signed in.
    let browsers: [BenchBrowser]
    /// The addresses of the streams, which the viewers use in turn.
    let streams: [String]
    /// The number of open pages.
    let count: Int
    /// The metrics of the node that serves the console.
    let admin: HTTPCaller

    /// The updates that the viewers have received.
    private final class Received: Sendable {
        private struct State {
            var bytes = 0
            /// By the number of the viewer.
            var byViewer: [Int: Int] = [:]
            /// The last stream that did not open, or broke.
            var fault: String?
        }

        private let state = NIOLockedValueBox(State())

        func add(_ bytes: Int, to viewer: Int) {
            state.withLockedValue { state in
                state.bytes += bytes
                state.byViewer[viewer, default: 0] += bytes
            }
        }

        /// The viewers that have received at least so many bytes.
        func viewers(with least: Int) -> Int {
            state.withLockedValue { state in state.byViewer.values.filter { $0 >= least }.count }
        }

        func fail(_ text: String) { state.withLockedValue { $0.fault = text } }
        var bytes: Int { state.withLockedValue { $0.bytes } }
        var fault: String? { state.withLockedValue { $0.fault } }
    }

    /// The accounts that so many open pages need.
    static func accounts(for count: Int) -> Int { (count + perAccount - 1) / perAccount }

    /// Runs `body` while the pages are open.
    ///
    /// - Returns: the result of `body`, and the bytes that the viewers received meanwhile.
    /// - Throws: `StageFailure` when not all pages are open, at the beginning or at the end; what `body` throws.
    func during<Value: Sendable>(_ body: () async throws -> Value) async throws -> (value: Value, bytes: Int) {
        let received = Received()
        let found = try await withThrowingTaskGroup(of: Void.self) { group -> (value: Value, bytes: Int) in
            for number in 0..<count {
                let browser = browsers[number / Self.perAccount]
                let stream = streams[number % streams.count]
                group.addTask { await Self.follow(number, browser, stream, received) }
            }
            defer { group.cancelAll() }
            try await settle(count, received)
            try await receive(received)
            let before = received.bytes
            let value = try await body()
            let bytes = received.bytes - before
            // A stream ends after five minutes, and opens again.
            try await settle(count, received)
            return (value, bytes)
        }
        try await settle(0, received)
        return found
    }

    /// Waits until the node has so many open pages.
    private func settle(_ wanted: Int, _ received: Received) async throws {
        let deadline = ContinuousClock.now + Self.limit
        while true {
            let metrics = try await admin.call("GET", "/metrics").text
            let open = NodeMetrics.sum(.consoleLivePages, in: metrics)
            if open == wanted { return }
            guard ContinuousClock.now < deadline else {
                throw StageFailure("\(open) of \(wanted) live pages are open; \(received.fault ?? "none was refused")")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Waits until each viewer has its page: opening 200 pages at once is not what a campaign is compared with.
    private func receive(_ received: Received) async throws {
        let deadline = ContinuousClock.now + Self.firstLimit
        while true {
            let served = received.viewers(with: Self.leastPage)
            if served == count { return }
            guard ContinuousClock.now < deadline else {
                throw StageFailure("\(served) of \(count) viewers have received their page")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Keeps one page open until it is canceled.
    private static func follow(
        _ viewer: Int,
        _ browser: BenchBrowser,
        _ stream: String,
        _ received: Received
    ) async {
        while !Task.isCancelled {
            do {
                let status = try await browser.stream(stream) { received.add($0, to: viewer) }
                if status == 200 { continue }
                received.fail("\(stream) answered \(status)")
            } catch {
                if Task.isCancelled { return }
                received.fail("\(stream): \(error)")
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }
}

/// A campaign, and the largest memory of the node meanwhile.
struct ViewedCampaign: Sendable {
    var perSecond: Double
    var residentMiB: Double
    /// CPU time of the gateway and PostgreSQL per delivery.
    var microseconds: Double
    /// The cores that this program used, in which the viewers are.
    var ownCores: Double
}

/// The results of campaigns with and without viewers.
struct ViewersReport: Sendable {
    var viewers: Int
    /// The rates with viewers, relative to those without, by pair.
    var ratios: [Double]
    /// The largest memory with viewers, above that of the campaigns before the first viewer: a process mostly keeps the memory that it has used.
    var memoryMiB: Double
    /// Received by all viewers in a campaign: the median.
    var bytes: Double
    /// The CPU time of the gateway and PostgreSQL per delivery with viewers, relative to that without, by pair. It excludes the viewers themselves.
    var costs: [Double] = []
    /// The cores that the viewers themselves used, by pair: those of this program with viewers, less those without.
    var ownCores: [Double] = []

    var ratio: Double { BenchReport.median(ratios) }
    var cost: Double { BenchReport.median(costs) }
    var cores: Double { BenchReport.median(ownCores) }

    /// The values beyond their limits, as sentences.
    func excesses(rate: Double, memory: Double) -> [String] {
        var found: [String] = []
        if ratio < rate {
            found.append(String(format: "the relative rate with viewers is %.3f, less than %.3f", ratio, rate))
        }
        if memoryMiB > memory {
            found.append(String(format: "the memory of viewers is %.1f MiB, more than %.1f MiB", memoryMiB, memory))
        }
        return found
    }
}

/// Sends campaigns to everyone, with and without viewers in turn.
struct ViewersRun {
    let stage: BenchStage
    let devices: Int
    let viewers: ConsoleViewers

    /// - Throws: `StageFailure` when a campaign does not end, or viewers cannot keep their pages open.
    func measure(pairs: Int) async throws -> ViewersReport {
        // Warms up: the first campaign grows files and caches.
        var baseline = try await campaign(0).residentMiB
        var (ratios, bytes): ([Double], [Double]) = ([], [])
        var (costs, ownCores): ([Double], [Double]) = ([], [])
        var top = 0.0
        for pair in 0..<pairs {
            // The first of a pair changes, because the machine may become slower or faster.
            let isFirst = pair % 2 == 1
            var with: ViewedCampaign?
            if isFirst { with = try await viewed(1 + pair * 2, &bytes) }
            let without = try await campaign(2 + pair * 2)
            if pair == 0 { baseline = max(baseline, without.residentMiB) }
            let seen: ViewedCampaign
            if let with { seen = with } else { seen = try await viewed(1 + pair * 2, &bytes) }
            top = max(top, seen.residentMiB)
            ratios.append(seen.perSecond / max(without.perSecond, 1))
            costs.append(seen.microseconds / max(without.microseconds, 0.1))
            ownCores.append(max(0, seen.ownCores - without.ownCores))
            Console.error(
                String(
                    format: "pair %d: %.0f/s, with viewers %.0f/s; memory %.0f and %.0f MiB",
                    pair + 1,
                    without.perSecond,
                    seen.perSecond,
                    without.residentMiB,
                    seen.residentMiB
                )
            )
        }
        return ViewersReport(
            viewers: viewers.count,
            ratios: ratios,
            memoryMiB: max(0, top - baseline),
            bytes: BenchReport.median(bytes),
            costs: costs,
            ownCores: ownCores
        )
    }

    private func viewed(_ number: Int, _ bytes: inout [Double]) async throws -> ViewedCampaign {
        let found = try await viewers.during { try await campaign(number) }
        bytes.append(Double(found.bytes))
        return found.value
    }

    private func campaign(_ number: Int) async throws -> ViewedCampaign {
        let node = stage.nodes[0].processID
        let watch = Task { () -> Double in
            var most = 0.0
            while !Task.isCancelled {
                most = max(most, ProcessUsage.residentMiB(node))
                try? await Task.sleep(for: .milliseconds(100))
            }
            return most
        }
        defer { watch.cancel() }
        let own = ProcessUsage.cpuSeconds(getpid())
        let sample = try await BenchRun(stage: stage, devices: devices).measure(number)
        let spent = ProcessUsage.cpuSeconds(getpid()) - own
        watch.cancel()
        return ViewedCampaign(
            perSecond: sample.perSecond,
            residentMiB: await watch.value,
            microseconds: sample.gatewayMicroseconds + sample.postgresMicroseconds,
            ownCores: spent / max(sample.seconds, 0.001)
        )
    }
}
