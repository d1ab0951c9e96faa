import Observability
import PageParts
import Testing
import WebConsole

@testable import ConsoleHTTP

/// The times of a page that its answer states, and the metrics of pages.
@Suite struct ConsoleTimingTests {
    @Test func callsAtTheSameTimeCountOnce() {
        let began = ContinuousClock.now
        func at(_ milliseconds: Int) -> ContinuousClock.Instant { began + .milliseconds(milliseconds) }
        let timing = PageTiming(began: began)
        timing.callBegan(at: at(2))
        timing.callBegan(at: at(4))
        timing.callEnded(at: at(6))
        timing.callEnded(at: at(9))
        // Between the calls the page chooses the next ones.
        timing.callBegan(at: at(12))
        timing.callEnded(at: at(15))
        #expect(timing.header(at: began + .microseconds(20_560)) == "calls;dur=10.0;desc=\"3\", page;dur=20.6")
        #expect(timing.elapsed(at: at(20)) == .milliseconds(20))
    }

    @Test func aPageWithoutCallsHasTimesToo() {
        let began = ContinuousClock.now
        let timing = PageTiming(began: began)
        #expect(timing.page == nil)
        timing.opens("messages/{message}", at: began + .microseconds(400))
        #expect(timing.page == "messages/{message}")
        #expect(
            timing.header(at: began + .milliseconds(1))
                == "calls;dur=0.0;desc=\"0\", session;dur=0.4, page;dur=1.0"
        )
    }

    @Test func theHeaderHasThePartsInTheirOrder() {
        let began = ContinuousClock.now
        func at(_ milliseconds: Int) -> ContinuousClock.Instant { began + .milliseconds(milliseconds) }
        let timing = PageTiming(began: began)
        timing.opens("audit", at: at(1))
        timing.took(.gzip, since: at(14), at: at(16))
        timing.took(.write, since: at(9), at: at(13))
        timing.took(.content, since: at(7), at: at(9))
        timing.took(.read, since: at(1), at: at(4))
        timing.took(.read, since: at(5), at: at(7))
        #expect(
            timing.header(at: at(16)) == "calls;dur=0.0;desc=\"0\", session;dur=1.0, read;dur=5.0, content;dur=2.0, "
                + "write;dur=4.0, gzip;dur=2.0, page;dur=16.0"
        )
    }

    @Test func aCallIsCountedAtItsBeginning() async {
        let timing = PageTiming()
        let before = timing.header()
        let during = await timing.call { timing.header() }
        #expect(before.contains("desc=\"0\"") && during.contains("desc=\"1\""))
        #expect(during.hasPrefix("calls;dur=0.0;"), "a call counts when it has ended")
    }

    /// The labels come from the list of the pages, and not from addresses.
    @Test func metricsHaveOneSeriesForEachPageAndClassOfStatuses() {
        let counts = ConsoleCounts()
        for page in Pages.all {
            for status in [200, 204, 303, 403, 404, 503] {
                counts.answered(page.path, status: status, in: .milliseconds(3))
            }
        }
        #expect(counts.handleCount == Pages.all.count * (4 + 1))
    }
}
