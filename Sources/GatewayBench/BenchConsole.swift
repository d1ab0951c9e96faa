import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import Model

/// `bench console`: the time and the size of every page, and the cost of open pages for a campaign.
struct BenchConsole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Measure the pages of the console with a tenth of the rows and with all, and the cost of open pages.",
        discussion: """
            Creates the history of 'bench analytics', signs in as an owner, and requests every page. The times are those of the server \
            (Server-Timing); sizes are those of a browser that has no file of the console yet, and of one that has them all. Then campaigns to \
            all devices are sent in pairs, with and without viewers of pages that update themselves. Exit status 1: a page could not be \
            measured, or a figure is beyond its limit. The defaults need 40 GB and an hour.
            """
    )

    @Option(help: "Number of deliveries of the measured tenant; a tenth is the number of its devices.")
    var deliveries = 10_000_000
    @Option(help: "Number of tenants with counts.") var tenants = 20
    @Option(help: "Number of apps of all tenants together.") var apps = 50
    @Option(help: "Number of days of the counts.") var days = 400
    @Option(help: "Number of requests of each page.") var requests = 100
    @Option(help: "The largest p95 of a page in milliseconds.") var limit = 200.0
    @Option(help: "The largest ratio of the p95 to that with a tenth of the rows.") var ratio = 1.2
    @Option(help: "The largest ratio of the p95 to that of the API calls behind the page.") var callRatio = 1.5
    @Option(help: "The largest first view in kB.") var firstView = 100.0
    @Option(help: "The largest later view in kB.") var laterView = 40.0
    @Option(help: "Number of open pages during a campaign; 0: no campaign is sent.") var viewers = 200
    @Option(help: "Number of pairs of campaigns.") var pairs = 3
    @Option(help: "The smallest rate of a campaign with viewers, relative to that without.") var rate = 0.95
    @Option(help: "The largest memory of all viewers on the node, in MiB.") var memory = 20.0
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (10_000...100_000_000).contains(deliveries) else {
            throw ValidationError("--deliveries must be 10000 to 100000000")
        }
        guard (2...1000).contains(tenants) else { throw ValidationError("--tenants must be 2 to 1000") }
        guard (tenants...4 * tenants).contains(apps) else {
            throw ValidationError("--apps must be one to four times the number of tenants")
        }
        guard (100...400).contains(days) else { throw ValidationError("--days must be 100 to 400") }
        guard (20...10_000).contains(requests) else { throw ValidationError("--requests must be 20 to 10000") }
        guard (0...ConsoleViewers.most).contains(viewers) else {
            throw ValidationError("--viewers must be 0 to \(ConsoleViewers.most)")
        }
        guard (1...50).contains(pairs) else { throw ValidationError("--pairs must be 1 to 50") }
        guard limit > 0, ratio >= 1, callRatio >= 1, firstView > 0, laterView > 0, rate >= 0, memory >= 0 else {
            throw ValidationError("the limits must be above 0, and --ratio and --call-ratio at least 1")
        }
    }

    /// The findings of a run.
    private struct Findings {
        var samples: [ConsoleSample] = []
        /// Nil: no campaign was sent.
        var viewers: ViewersReport?
        /// Sentences about pages that could not be measured.
        var faults: [String] = []
    }

    private var bounds: PageBounds {
        PageBounds(time: limit, ratio: ratio, callRatio: callRatio, firstView: firstView, laterView: laterView)
    }

    private func excesses(_ found: Findings) -> [String] {
        found.faults + found.samples.flatMap { bounds.excesses($0) }
            + (found.viewers?.excesses(rate: rate, memory: memory) ?? [])
    }

    func run() async throws {
        var sentences: [String] = []
        let peer = viewers > 0 ? self.peer ?? Bench.peer : nil
        try await BenchStage.with(peer: peer, nodes: 1, hasConsole: true) { stage in
            guard let address = stage.addresses.console else { throw StageFailure("the gateway has no console") }
            let found = try await BenchBrowser.with("http://\(address)") { browser in
                try await measure(stage, browser)
            }
            sentences = excesses(found)
            try await report(stage, found)
        }
        for sentence in sentences { Console.error(sentence) }
        guard sentences.isEmpty else { throw ExitCode(1) }
    }

    // MARK: Pages

    private func measure(_ stage: BenchStage, _ browser: () -> BenchBrowser) async throws -> Findings {
        let fill = AnalyticsFill(stage: stage, deliveries: deliveries, tenants: tenants, apps: apps, days: days)
        let objects = ConsoleObjects(stage: stage)
        try await fill.tenth()
        let password = SystemIdentifiers().randomHex(byteCount: 16)
        try await join(Self.name(0), password, stage, browser())
        let made = try await objects.make()
        var found = Findings(faults: made.faults)
        // A session ends after two hours without use: each phase has its own.
        func signedIn() async throws -> ConsoleRun {
            var own = browser()
            try await own.signIn(Self.name(0), password)
            return ConsoleRun(browser: own, count: requests)
        }
        func places(isWhole: Bool) async throws -> [ConsolePlace] {
            let history = try await objects.history(AnalyticsFill.newest(isWhole: isWhole))
            return ConsoleObjects.places(made.fields.merging(history) { $1 })
        }
        let tenth = try await signedIn().times(try await places(isWhole: false))
        try await fill.rest()
        let (whole, all) = (try await signedIn(), try await places(isWhole: true))
        let times = try await whole.times(all)
        // A page that fails in both phases is reported once.
        found.faults += tenth.faults + times.faults.filter { !tenth.faults.contains($0) }
        let measured = all.filter { tenth.times[$0.name] != nil && times.times[$0.name] != nil }
        let sizes = try await whole.sizes(measured)
        found.samples = measured.compactMap { place in
            guard let first = tenth.times[place.name], let second = times.times[place.name],
                let size = sizes[place.name]
            else { return nil }
            return ConsoleSample(name: place.name, tenth: first, all: second, sizes: size)
        }
        if viewers > 0 {
            let streams = try await whole.streams(measured)
            let people = try await self.people(password, stage, browser)
            found.viewers = try await campaigns(stage, people, streams, devices: fill.devices)
        }
        return found
    }

    private static func name(_ number: Int) -> String { "viewer-\(number)" }

    /// Creates an owner's account.
    private func join(_ name: String, _ password: String, _ stage: BenchStage, _ browser: BenchBrowser) async throws {
        let link = try await stage.material.inviteOwner(Bench.program.path, console: browser.base, name: name)
        try await browser.accept(link, password: password)
    }

    // MARK: Open pages

    /// The browsers of as many accounts as the open pages need. The first account exists.
    private func people(
        _ password: String,
        _ stage: BenchStage,
        _ browser: () -> BenchBrowser
    ) async throws -> [BenchBrowser] {
        var people: [BenchBrowser] = []
        for number in 0..<ConsoleViewers.accounts(for: viewers) {
            var own = browser()
            if number > 0 { try await join(Self.name(number), password, stage, own) }
            try await own.signIn(Self.name(number), password)
            people.append(own)
        }
        return people
    }

    private func campaigns(
        _ stage: BenchStage,
        _ people: [BenchBrowser],
        _ streams: [String],
        devices: Int
    ) async throws -> ViewersReport {
        guard !streams.isEmpty else { throw StageFailure("no page updates itself") }
        return try await HTTPCaller(base: "http://\(stage.addresses.admin)").closing { admin in
            let open = ConsoleViewers(browsers: people, streams: streams, count: viewers, admin: admin)
            return try await ViewersRun(stage: stage, devices: devices, viewers: open).measure(pairs: pairs)
        }
    }

    // MARK: Report

    private static func number(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

    private func report(_ stage: BenchStage, _ found: Findings) async throws {
        let settings = try await stage.settings()
        guard json else {
            let headings = [
                "page", "p95, a tenth", "p95, all", "ratio", "p95 of calls", "page / calls", "first view", "later view",
            ]
            let rows = found.samples.map { sample in
                [
                    sample.name, Self.number(sample.tenth.page, 1) + " ms", Self.number(sample.all.page, 1) + " ms",
                    Self.number(sample.ratio), Self.number(sample.all.calls, 1) + " ms", Self.number(sample.callRatio),
                    Self.number(Double(sample.sizes.first) / 1000, 1) + " kB",
                    Self.number(Double(sample.sizes.later) / 1000, 1) + " kB",
                ]
            }
            let viewers = found.viewers.map { report in
                """
                campaign with \(report.viewers) viewers, relative: \(Self.number(report.ratio, 3))
                CPU of gateway and PostgreSQL per delivery, relative: \(Self.number(report.cost, 3))
                cores used by the viewers themselves: \(Self.number(report.cores, 3))
                memory of the viewers on the node: \(Self.number(report.memoryMiB, 1)) MiB
                received by all viewers in a campaign: \(Self.number(report.bytes / 1e6, 1)) MB

                """
            }
            Console.print(Console.table(headings, rows) + "\n" + (viewers ?? "") + settings.text)
            return
        }
        for sample in found.samples { Console.print(line(sample)) }
        var object: JSONObject = ["passed": .bool(excesses(found).isEmpty)]
        if let report = found.viewers {
            object["viewers"] = .int(report.viewers)
            object["rateRatio"] = .number(Self.number(report.ratio, 3))
            object["cpuRatio"] = .number(Self.number(report.cost, 3))
            object["viewerCores"] = .number(Self.number(report.cores, 3))
            object["viewersMiB"] = .number(Self.number(report.memoryMiB, 1))
            object["receivedBytes"] = .number(Self.number(report.bytes, 0))
        }
        object["faults"] = .array(found.faults.map { .string($0) })
        object["settings"] = settings.json
        Console.print(.object(object))
    }

    private func line(_ sample: ConsoleSample) -> JSON {
        func number(_ value: Double) -> JSON { .number(Self.number(value)) }
        return [
            "page": .string(sample.name), "deliveries": .int(deliveries), "tenthP95Ms": number(sample.tenth.page),
            "p95Ms": number(sample.all.page), "ratio": number(sample.ratio), "callsP95Ms": number(sample.all.calls),
            "callRatio": number(sample.callRatio), "firstViewBytes": .int(sample.sizes.first),
            "laterViewBytes": .int(sample.sizes.later), "passed": .bool(bounds.excesses(sample).isEmpty),
        ]
    }
}
