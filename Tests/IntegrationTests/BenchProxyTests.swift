import Foundation
import Observability
import Testing

@testable import GatewayBench

/// The parts of `bench proxy` that need no gateway.
@Suite struct BenchProxyTests {
    private static let limits = ProxyLimits(
        proxied: 0.2,
        observed: 0.5,
        forwarded: 0.8,
        added: 1.5,
        rollout: 1.05,
        memory: 64
    )

    private func pair(
        _ proxied: Double,
        _ added: Double,
        _ observed: Double,
        _ forwarded: Double
    ) -> [ProxyTurn: Double] {
        [
            .nginx: 20_000, .proxied: proxied, .direct: 0.25, .added: added, .served: 4000, .observed: observed,
            .forwarded: forwarded,
        ]
    }

    private func excesses(_ pairs: [[ProxyTurn: Double]]) -> [String] {
        Self.limits.figures(pairs).compactMap(\.excess)
    }

    @Test func eachRatioBelowItsBarIsOneExcess() {
        #expect(excesses([pair(4000, 1.75, 2000, 3200)]) == [])
        #expect(
            excesses([pair(3980, 1.75, 2000, 3200)])
                == ["proxied calls/s, of nginx: 0.199 is less than 0.200"]
        )
        #expect(
            excesses([pair(4000, 2, 1600, 2400)]) == [
                "p50 added by proxying, ms: 1.750 is more than 1.500",
                "proxied and observed calls/s, of served: 0.400 is less than 0.500",
                "served and forwarded calls/s, of served: 0.600 is less than 0.800",
            ]
        )
        // A median is not moved by one pair.
        #expect(excesses([pair(4000, 1, 2000, 3200), pair(1, 99, 1, 1), pair(5000, 1, 2500, 4000)]) == [])
    }

    @Test func aDearRolloutAndMuchMemoryAreExcesses() {
        func excesses(_ rollouts: [Double], _ waiting: Double) -> [String] {
            Self.limits.figures(rollouts: rollouts, waiting: waiting).compactMap(\.excess)
        }
        #expect(excesses([1.05, 0.9, 1.2], 64) == [])
        #expect(
            excesses([1.06], 65) == [
                "CPU of a campaign with a rollout, of without: 1.060 is more than 1.050",
                "memory of 1,000 calls that wait, MiB: 65.000 is more than 64.000",
            ]
        )
    }

    // A ceiling is below its limit without any value, which is not a result.
    @Test func aFigureWithoutValuesDoesNotPass() {
        #expect(BenchFigure.most("a", [], 1).excess == "a: nothing was measured")
        #expect(excesses([[:]]).count == 4)
        #expect(BenchFigure.least("a", [0.5, 1, 2], 0.9).row == ["a", "1.000", "0.500 to 2.000", ">= 0.900", "yes"])
        #expect(BenchFigure.most("a", [3], 1).row == ["a", "3.000", "3.000 to 3.000", "<= 1.000", "NO"])
    }

    @Test func theReportOfWrkIsRead() throws {
        let text = """
            Running 1s test @ http://127.0.0.1:18082/x
              1 threads and 4 connections
              Thread Stats   Avg      Stdev     Max   +/- Stdev
                Latency   759.10us    1.32ms  14.10ms   87.75%
                Req/Sec    17.81k     1.42k   20.29k    80.00%
              Latency Distribution
                 50%  117.00us
                 75%    0.97ms
                 90%    2.37ms
                 99%    5.48ms
              17735 requests in 1.00s, 3.60MB read
            Requests/sec:  17724.52
            Transfer/sec:      3.60MB
            """
        let report = try #require(WrkReport(text))
        #expect(report.requests == 17_735 && report.perSecond == 17_724.52 && report.errors == nil)
        #expect(report.p50 == 0.117 && report.p99 == 5.48)
        #expect(WrkReport(text.replacing("50%  ", with: "")) == nil)
        let failing = text.replacing("Requests/sec", with: "  Non-2xx or 3xx responses: 3\nRequests/sec")
        #expect(WrkReport(failing)?.errors == "Non-2xx or 3xx responses: 3")
    }

    @Test func eachCallGetsItsNumberInEveryPlace() {
        let post = WrkPost(path: "/a", body: #"{"a":"%d","b":"%05x"}"#, numbers: 10, offset: 5)
        let script = post.script(from: 3)
        #expect(script.contains("local number = 2\n") && script.contains("local n = number % 10 + 1 + 5\n"))
        #expect(script.contains(#"string.format('{"a":"%d","b":"%05x"}', n, n)"#))
    }

    // Without connections that are kept, nginx would be a slow reference.
    @Test func bothKindsOfNginxKeepTheirConnections() {
        let proxy = NginxServer.configuration(.proxies(to: 4001), port: 4002, files: "/tmp/x")
        let answers = NginxServer.configuration(.answers(#"{"RT":"0000"}"#), port: 4001, files: "/tmp/x")
        for text in [proxy, answers] {
            #expect(text.contains("  keepalive_requests 1000000000;\n") && text.contains("pid /tmp/x.pid;"))
            #expect(text.filter { $0 == "{" }.count == text.filter { $0 == "}" }.count)
        }
        #expect(
            proxy.contains("server { listen 127.0.0.1:4002;") && proxy.contains("server 127.0.0.1:4001; keepalive ")
        )
        #expect(proxy.contains(#"proxy_http_version 1.1; proxy_set_header Connection "";"#))
        #expect(answers.contains(#"return 200 '{"RT":"0000"}';"#))
    }

    @Test func seriesAreAddedUp() {
        let metrics = """
            # TYPE observed_total counter
            observed_total{vendor="ipns",outcome="stored"} 5
            observed_total{vendor="upmc",outcome="stored"} 2
            observed_total{vendor="ipns",outcome="nothing"} 3
            observed_lost_total{vendor="ipns",reason="full"} 7
            console_live_pages 200.0
            console_live_pages_other 3.0
            """
        #expect(NodeMetrics.sum(.observed, in: metrics) == 10)
        #expect(NodeMetrics.sum(.observed, [#"vendor="ipns""#, #"outcome="stored""#], in: metrics) == 5)
        #expect(NodeMetrics.sum(.observedLost, in: metrics) == 7)
        #expect(NodeMetrics.sum(.upstreamCalls, in: metrics) == 0)
        #expect(NodeMetrics.sum(.consoleLivePages, in: metrics) == 200)
    }
}
