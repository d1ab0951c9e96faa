import Migration
import MigrationStore
import Migrations
import Model
import Routing
import Testing

@testable import Gateway
@testable import push_gateway

/// The figures of pushes that gates compare, and the screen of `migration status`.
@Suite struct MigrationFigureTests {
    private func row(_ transport: String?, _ counts: [FunnelStage: Int64]) -> CountedDeliveries {
        var stages = StageCounts()
        for (stage, count) in counts { stages[stage] = count }
        let group = FunnelGroup(transport.map { [.transport: $0] } ?? [:])
        return CountedDeliveries(part: 0, group: group, deviceVendor: "upmc", counts: stages)
    }

    @Test func receiptsOfBothSidesAreCompared() {
        let shares = PushShares([
            row("apns", [.accepted: 390, .uncertain: 10, .received: 200, .rejected: 90]),
            row("upstream:old", [.accepted: 100, .received: 60]),
            row("observed:upmc", [.accepted: 200, .received: 90]),
            // A push that could not be made has no transport.
            row("none", [.suppressed: 50, .expired: 5, .unsendable: 10]), row(nil, [.accepted: 7, .unsendable: 7]),
        ])
        let found = shares.measurements
        #expect(found[.failures] == MigrationMeasurement(0.2, samples: 500))
        // Half of the moved pushes were received, and half of the others.
        #expect(found[.receipts] == MigrationMeasurement(1, samples: 300))
    }

    // Parity states the receipts of each dialect whose devices got pushes from both sides.
    @Test func receiptsAreComparedByDialect() {
        var rows: [CountedDeliveries] = []
        func add(_ dialect: String, _ transport: String, _ accepted: Int64, _ received: Int64) {
            var counted = row(transport, [.accepted: accepted, .received: received])
            counted.deviceVendor = dialect
            rows.append(counted)
        }
        add("upmc", "apns", 100, 45)
        add("upmc", "observed:upmc", 200, 100)
        add("braze", "apns", 10, 5)
        add("braze", "upstream:old", 10, 0)
        // One side alone, and devices whose dialect is not known.
        add("ipns", "apns", 10, 5)
        add("native", "observed:upmc", 10, 5)
        add(FunnelFilter.unknownDialect, "apns", 10, 5)
        add(FunnelFilter.unknownDialect, "observed:upmc", 10, 5)
        let found = ParityReadings.receipts(rows)
        #expect(found.map(\.dialect) == ["braze", "upmc"])
        // No receipt of the vendor's pushes: there is nothing to compare with.
        #expect(found.first?.measurement == nil)
        #expect(found.last?.measurement == MigrationMeasurement(0.9, samples: 100))
    }

    // The last quarter hours are measured apart, and their pushes are among those of the step.
    @Test func theLastQuarterHoursAreAPartOfTheStep() {
        var recent = row("apns", [.accepted: 100, .rejected: 300])
        recent.part = 1
        let rows = [row("apns", [.accepted: 99_600]), recent]
        let whole = PushShares.measurements(rows, recentPart: 1)
        #expect(
            whole == [
                .failures: MigrationMeasurement(0.003, samples: 100_000, recent: RecentReading(0.75, samples: 400))
            ]
        )
        #expect(
            PushShares.measurements(rows, recentPart: nil) == [.failures: MigrationMeasurement(0.003, samples: 100_000)]
        )
    }

    // Two slow pushes of 200 are the 99th percentile, and chance.
    @Test func theMarginOfThePercentileIsOfAFewSlowPushes() throws {
        func histogram(_ fast: Int, _ slow: Int) -> LatencyHistogram {
            var histogram = LatencyHistogram()
            for _ in 0..<fast { histogram.add(100) }
            for _ in 0..<slow { histogram.add(9000) }
            return histogram
        }
        let gate = MigrationGate(.p99, 2)
        func verdict(_ fast: Int, _ slow: Int) throws -> MigrationVerdict {
            let reading = try #require(MigrationMeter.slowest(histogram(fast, slow)))
            #expect(reading.value > 8 && reading.samples == fast + slow)
            return gate.verdict(MigrationMeasurement(0.1, samples: 1_000_000, recent: reading))
        }
        #expect(try !verdict(195, 5).isFailure)
        #expect(try verdict(180, 20).isFailure)
        #expect(try verdict(950, 50).isFailure)
        #expect(MigrationMeter.slowest(LatencyHistogram()) == nil)
    }

    // MARK: The window

    private static let quarter = Timestamp(seconds: 1_800_000_000)

    private func window(from start: Int64, to now: Int64) -> MigrationWindow {
        MigrationWindow(from: Self.quarter + .seconds(start), to: Self.quarter + .seconds(now))
    }

    // The quarter hour in which the step began counts until the first whole one has passed: a short step has no other.
    @Test(
        arguments: [
            (100, 101, 0, 1, false), (100, 899, 0, 1, false), (100, 900, 0, 2, false), (100, 1799, 0, 2, false),
            (100, 1800, 1, 3, false), (100, 2699, 1, 3, false), (100, 2700, 1, 4, true), (0, 1800, 0, 3, true),
            (899, 2700, 1, 4, true),
        ] as [(Int64, Int64, Int32, Int32, Bool)]
    )
    func pushesCountByWholeQuarterHours(
        _ start: Int64,
        _ now: Int64,
        _ first: Int32,
        _ end: Int32,
        _ hasEarlier: Bool
    ) {
        let window = window(from: start, to: now)
        let base = Int32(Self.quarter.seconds / QuarterRange.seconds)
        #expect(window.quarters == QuarterRange(from: base + first, to: base + end))
        #expect(window.hasEarlierPushes == hasEarlier)
        #expect(window.since == Self.quarter + .seconds(start))
    }

    @Test func recentCallsAreThoseOfThisQuarterHourAndTheOneBefore() {
        #expect(window(from: 100, to: 1799).recentCalls == nil)
        #expect(window(from: 100, to: 1800).recentCalls == Self.quarter + .seconds(900))
        #expect(window(from: 100, to: 90_000).recentCalls == Self.quarter + .seconds(89_100))
        // Of a long step, the last days count.
        let long = window(from: 100, to: 100 + 30 * 86_400)
        #expect(long.since == Self.quarter + .seconds(100 + 23 * 86_400))
        #expect(long.quarters.start == long.since + .seconds(800))
        // A clock that runs behind.
        #expect(window(from: 100, to: 0).recentCalls == nil && !window(from: 100, to: 0).hasEarlierPushes)
    }

    // Without data nothing is known, which is not a good figure.
    @Test func oneSideAloneIsNoComparison() {
        #expect(PushShares([]).measurements.isEmpty)
        let moved = row("apns", [.accepted: 500, .received: 400])
        #expect(PushShares([moved]).measurements.keys.sorted { $0.rawValue < $1.rawValue } == [.failures])
        #expect(PushShares([moved, row("observed:upmc", [.accepted: 500])]).measurements[.receipts] == nil)
        #expect(PushShares([row("observed:upmc", [.accepted: 500])]).measurements.isEmpty)
    }

    // UPMC with `byDevice: false`: the vendor would push to the moved devices of the user again.
    @Test func aPlanWarnsOfDevicesThatNobodyReaches() {
        func warning(_ stages: [MigrationStage], splitsPlatforms: Bool = false, byUser: Bool = true) -> String? {
            let steps = stages.map { MigrationStep($0) }
            let plan = MigrationPlan(id: "spring", app: "shop", upstream: "old", unit: .user, steps: steps)
            let facts = UpstreamFacts(vendor: .upmc, addressesUsers: byUser, splitsPlatforms: splitsPlatforms)
            return CheckedPlan.warning(plan, facts)
        }
        let whole: [MigrationStage] = [.serve, .rollout(5000), .rollout(10_000), .hold]
        #expect(warning(whole)?.hasPrefix("from 'rollout 100 %' on, devices without a direct transport") == true)
        #expect(warning([.serve, .rollout(5000), .hold])?.hasPrefix("from 'hold' on") == true)
        #expect(warning([.serve, .rollout(5000)]) == nil)
        #expect(warning(whole, splitsPlatforms: true) == nil && warning(whole, byUser: false) == nil)
    }

    @Test func aPlanWarnsUntilAnImportCarriedConsents() {
        let end = ": opt-outs that were made at the vendor are not known here"
        #expect(MigrationProvisioner.warning(imports: 0, consents: 0) == "no devices were imported" + end)
        let without = MigrationProvisioner.warning(imports: 3, consents: 0)
        #expect(without == "no import had a value in the columns acceptsPush and consents" + end)
        #expect(MigrationProvisioner.warning(imports: 3, consents: 1) == nil)
    }

    // A comparison of ten devices says nothing, like ten samples of any other share.
    @Test func theSamplesOfAComparisonAreItsDevices() {
        var summary = ComparisonSummary()
        #expect(MigrationMeter.devices(summary) == nil)
        (summary.exported, summary.onlyInExport) = (10, 1)
        #expect(MigrationMeter.devices(summary) == MigrationMeasurement(0.1, samples: 10))
        (summary.exported, summary.rejected, summary.onlyHere, summary.differing) = (180, 5, 15, 4)
        #expect(MigrationMeter.devices(summary) == MigrationMeasurement(0.125, samples: 200))
        let gate = MigrationGate(.devices, 0.5)
        #expect(gate.verdict(.init(0, samples: 10)) == .missing(190))
    }

    // A receipt waits for the send of its message before it counts as unknown. Meanwhile a kill may be over, and another step in force.
    @Test func aCallCountsInTheIntervalInWhichItArrived() {
        var tally = FigureCounts.Tally(interval: .seconds(2))
        let known = ParityFigure(.unknown, samples: 1, differences: 0)
        let unknown = ParityFigure(.unknown, samples: 1, differences: 1)
        tally.add(known, of: "shop", in: "acme", at: Timestamp(milliseconds: 7_000))
        // It arrived before, and waited.
        tally.add(unknown, of: "shop", in: "acme", at: Timestamp(milliseconds: 5_999))
        tally.add(known, of: "shop", in: "acme", at: Timestamp(milliseconds: 7_999))
        let taken = tally.take()["acme"]?.sorted { $0.at < $1.at }
        #expect(
            taken == [
                FigureCount(app: "shop", at: Timestamp(milliseconds: 4_000), figure: unknown),
                FigureCount(
                    app: "shop",
                    at: Timestamp(milliseconds: 6_000),
                    figure: ParityFigure(.unknown, samples: 2, differences: 0)
                ),
            ]
        )
        #expect(tally.take().isEmpty)
    }

    private static let answer: JSON = [
        "id": "leave", "app": "shop", "from": "old", "status": "running", "step": 2, "steps": 6, "stage": "rollout 1 %",
        "since": "2026-11-26T18:00:00.000Z", "remainingSeconds": 18_730, "ready": false, "reason": .null,
        "gates": [
            [
                "metric": "failures", "limit": .number("0.02"), "atLeast": false, "verdict": "passed",
                "value": .number("0.0041"), "samples": 1240, "needed": 200, "missing": 0,
            ],
            [
                "metric": "receipts", "limit": .number("0.97"), "atLeast": true, "verdict": "missing", "value": .null,
                "samples": .null, "needed": 200, "missing": 188,
            ],
        ],
        "rollback": ["waitingCalls": 12, "oldestSeconds": 3, "missesCalls": false],
        "history": [
            [
                "at": "2026-11-26T18:00:00.000Z", "actor": "key:ops", "status": "running",
                "note": "rollout 1 % is in force", "routeVersion": 43,
            ]
        ],
    ]

    @Test func theStatusIsOneScreen() {
        let text = MigrationText.text(Self.answer, changes: 5)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count <= 24)
        #expect(lines.first == "leave: shop leaves old")
        #expect(lines[1] == "running: step 3 of 6, rollout 1 %, since 2026-11-26T18:00:00.000Z, 5h 12m left")
        #expect(text.contains("188 samples are missing") && text.contains("<= 0.02") && text.contains("1240 of 200"))
        #expect(text.contains("a rollback now: 12 calls wait for the upstream, the oldest for 3s"))
        #expect(lines.last?.hasSuffix("running: rollout 1 % is in force, rules 43") == true)
        let late: JSON = ["gates": [["metric": "failures", "verdict": "failed", "recent": true]]]
        #expect(MigrationText.text(late, changes: 0).contains("failed in the last quarter hours"))
        #expect(MigrationText.text([:], changes: 0).contains("the upstream has received every call"))
    }

    // A step with every gate that there is, halted, with the changes that the command shows by default.
    @Test func theStatusOfTheLongestStepIsOneScreen() throws {
        var object = try #require(Self.answer.object)
        object["status"] = "halted"
        object["reason"] = "p99 failed: 9.0 of 5000 samples, the limit is 2.0"
        object["gates"] = .array(
            MigrationMetric.allCases.map { metric -> JSON in
                [
                    "metric": .string(metric.rawValue), "limit": .number("0.995"), "atLeast": .bool(metric.wantsMore),
                    "verdict": "missing", "value": .null, "samples": .null, "needed": 1_000_000, "missing": 999_999,
                ]
            }
        )
        object["history"] = .array(Array(repeating: Self.answer["history"]?.array?.first ?? .null, count: 20))
        let text = MigrationText.text(.object(object), changes: MigrationCommand.Status.standardChanges)
        let lines = text.split(separator: "\n")
        // The screen of a terminal, with a line for the next command.
        #expect(lines.count <= 23, "\(text)")
        let gates = lines.drop { !$0.hasPrefix("gate") }.prefix(1 + MigrationMetric.allCases.count)
        #expect(gates.count == 1 + MigrationMetric.allCases.count && gates.allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(lines.contains("reason: p99 failed: 9.0 of 5000 samples, the limit is 2.0"))
    }

    @Test func theStatusSaysThatTheUpstreamMissesCalls() {
        let full: JSON = ["rollback": ["waitingCalls": 100_000, "oldestSeconds": 90, "missesCalls": true]]
        let cost = "a rollback now: the upstream misses calls, because 100000 wait; import the devices there first"
        #expect(MigrationText.text(full, changes: 0).hasSuffix(cost))
    }

    @Test(
        arguments: [(0, "0s"), (59, "59s"), (60, "1m 0s"), (3_725, "1h 2m"), (1_296_000, "15d 0h")] as [(Int64, String)]
    )
    func timesHaveTwoUnits(_ seconds: Int64, _ text: String) { #expect(MigrationText.duration(seconds) == text) }
}
