import Testing
import WebConsole

@testable import GatewayBench

/// The parts of `bench console` that need no gateway.
@Suite struct BenchConsoleTests {
    private static let bounds = PageBounds(time: 200, ratio: 1.2, callRatio: 1.5, firstView: 100, laterView: 40)

    private func sample(_ tenth: Double, _ page: Double, _ calls: Double, _ sizes: PageSizes) -> ConsoleSample {
        ConsoleSample(
            name: "messages",
            tenth: ServerTiming(calls: 1, page: tenth),
            all: ServerTiming(calls: calls, page: page),
            sizes: sizes
        )
    }

    @Test func eachLimitOfAPageIsOneExcess() {
        let small = PageSizes(first: 100_000, later: 40_000)
        #expect(Self.bounds.excesses(sample(170, 200, 140, small)) == [])
        // Times below 5 ms differ by the noise of the machine.
        #expect(Self.bounds.excesses(sample(0.5, 4.9, 0.1, small)) == [])
        #expect(
            Self.bounds.excesses(sample(190, 210, 150, small))
                == ["messages: the p95 is 210 ms, more than 200 ms"]
        )
        #expect(
            Self.bounds.excesses(sample(50, 65, 60, small))
                == ["messages: the p95 relative to that with a tenth is 1.30, more than 1.20"]
        )
        #expect(
            Self.bounds.excesses(sample(100, 100, 50, small))
                == ["messages: the p95 relative to that of its API calls is 2.00, more than 1.50"]
        )
        let large = PageSizes(first: 100_100, later: 40_100)
        #expect(
            Self.bounds.excesses(sample(10, 10, 10, large)) == [
                "messages: the first view is 100.1 kB, more than 100.0 kB",
                "messages: a later view is 40.1 kB, more than 40.0 kB",
            ]
        )
    }

    @Test func timesAreReadFromTheHeader() {
        #expect(ServerTiming("calls;dur=12.3;desc=\"4\", page;dur=20.6") == ServerTiming(calls: 12.3, page: 20.6))
        // Other names are not read.
        let parts = "calls;dur=12.3;desc=\"4\", session;dur=0.9, read;dur=14.0, gzip;dur=1.2, page;dur=20.6"
        #expect(ServerTiming(parts) == ServerTiming(calls: 12.3, page: 20.6))
        for broken in ["", "page;dur=1", "calls;dur=x, page;dur=1", "calls, page"] {
            #expect(ServerTiming(broken) == nil, "\(broken)")
        }
    }

    @Test func theSlowestTwentiethIsLeftOut() {
        #expect(ConsoleRun.p95([]) == 0 && ConsoleRun.p95([3]) == 3)
        #expect(ConsoleRun.p95((1...100).map { Double($0) }) == 96)
    }

    @Test func thePageNamesItsFilesAndItsStream() {
        let html = """
            <link rel="stylesheet" href="/assets/console-01.css"><link rel="icon" href="/assets/icon-02.svg">
            <script type="module" src="/assets/live-03.js"></script><a href="/t/acme/messages">Messages</a>
            <body data-updates="/t/acme/live/stream?page=%2Fmessages&amp;query="><a href="/assets/console-01.css">
            """
        let files = ["/assets/console-01.css", "/assets/icon-02.svg", "/assets/live-03.js"]
        #expect(ConsoleRun.files(in: html) == Set(files))
        #expect(ConsoleRun.stream(in: html) == "/t/acme/live/stream?page=%2Fmessages&query=")
        #expect(ConsoleRun.stream(in: "<body><p>data-updates") == nil)
    }

    /// A field that the benchmark does not know would be a page that is not measured.
    @Test func everyFieldOfAPathHasAValue() {
        let known = [
            "app", "capture", "credential", "device", "group", "key", "message", "migration", "reason", "target",
            "template", "user", "webhook",
        ]
        let places = ConsoleObjects.places(Dictionary(uniqueKeysWithValues: known.map { ($0, "id of \($0)") }))
        #expect(places.count == Pages.all.count && Set(places.map(\.name)).count == places.count)
        #expect(places.contains(ConsolePlace(name: "overview", path: "/t/acme/")))
        #expect(places.contains(ConsolePlace(name: "users/{user}", path: "/t/acme/users/id%20of%20user?app=shop")))
        for place in places { #expect(!place.path.contains("unknown"), "\(place.name)") }
    }

    @Test func viewersHaveAsManyAccountsAsTheirPagesNeed() {
        #expect(ConsoleViewers.accounts(for: 200) == 13 && ConsoleViewers.accounts(for: 16) == 1)
    }

    @Test func theCostOfViewersIsTheMedianOfThePairs() {
        let report = ViewersReport(
            viewers: 200,
            ratios: [0.9],
            memoryMiB: 0,
            bytes: 1,
            costs: [1.02, 3, 1.01],
            ownCores: [0.3, 0.1, 0.2]
        )
        #expect(report.cost == 1.02 && report.cores == 0.2)
    }

    @Test func aSlowCampaignAndMuchMemoryAreExcesses() {
        func report(_ ratios: [Double], _ memory: Double) -> ViewersReport {
            ViewersReport(viewers: 200, ratios: ratios, memoryMiB: memory, bytes: 1)
        }
        // A median is not moved by one pair.
        #expect(report([0.96, 0.5, 1.1], 20).excesses(rate: 0.95, memory: 20) == [])
        #expect(
            report([0.94, 0.9, 1.0], 20.2).excesses(rate: 0.95, memory: 20) == [
                "the relative rate with viewers is 0.940, less than 0.950",
                "the memory of viewers is 20.2 MiB, more than 20.0 MiB",
            ]
        )
    }
}
