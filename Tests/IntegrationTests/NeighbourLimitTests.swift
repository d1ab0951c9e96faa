import Testing

@testable import GatewayBench

/// The thresholds of `bench neighbour` (I9), `bench retention` and `bench webhooks`.
@Suite struct NeighbourLimitTests {
    @Test func aRatioAboveTheLimitFails() {
        #expect(BenchNeighbour.excesses(accept: 1.5, push: 1.2, limit: 1.5) == [])
        #expect(
            BenchNeighbour.excesses(accept: 1.6, push: 2, limit: 1.5) == [
                "p99 of accepts is 1.60 times that without trouble, more than 1.50",
                "p99 of accept → APNs is 2.00 times that without trouble, more than 1.50",
            ]
        )
    }

    @Test func aRoundThatTakesTooLongOrLeavesRowsFails() {
        let fine = RetentionSample(seconds: 299, left: 0, without: 10, with: 12, maximum: 40)
        #expect(fine.excesses(limit: 1.2) == [])
        let bad = RetentionSample(seconds: 301, left: 7, without: 10, with: 13, maximum: 40)
        #expect(
            bad.excesses(limit: 1.2) == [
                "the round took 301 s, longer than the period of 300 s", "7 old rows are left",
                "p99 of accepts is 1.30 times that without maintenance, more than 1.20",
            ]
        )
    }

    @Test func aSlowWebhookOrASlowerMessageFails() {
        func sample(_ order: String, _ seconds: Double) -> WebhookSample {
            WebhookSample(
                order: order,
                events: 100_000,
                calls: 1,
                seconds: seconds,
                gatewayMicroseconds: 1,
                postgresMicroseconds: 1
            )
        }
        // The order of the log has no limit.
        var report = WebhookReport(
            samples: [sample("log", 50), sample("device", 5)],
            campaign: CampaignSample(alone: 1000, during: 900)
        )
        #expect(report.shortfalls(leastRate: 20_000, leastShare: 0.9) == [])
        report.samples[1].seconds = 10
        report.campaign?.during = 890
        #expect(
            report.shortfalls(leastRate: 20_000, leastShare: 0.9) == [
                "in the order of devices: 10000 events per second, less than 20000",
                "a message kept 0.89 of its rate, less than 0.90",
            ]
        )
    }

    @Test func timesBelowTheNoiseAreEqual() {
        #expect(BenchNeighbour.ratio(of: 4.9, to: 0.4) == 1)
        #expect(BenchNeighbour.ratio(of: 10, to: 0) == 2)
        #expect(BenchNeighbour.ratio(of: 20, to: 40) == 0.5)
    }
}
