import Migration
import Model
import Routing
import Testing

/// Files of migrations, and the faults of plans.
@Suite struct MigrationPlanTests {
    /// The example of the documentation.
    private static let file = """
        {"migration": {"id": "leave-upmc", "app": "shop", "from": "old-upmc", "by": "user", "onGateFailure": "rollback"},
        "steps": [
            {"stage": "observe", "for": "2d", "gates": {"observed": ">= 0.999", "responses": ">= 0.99", "senders": ">= 1"}},
            {"stage": "serve", "for": "1d", "gates": {"devices": "<= 0.5%", "reach": ">= 0.995", "backlog": "<= 60s"}},
            {"stage": "rollout", "percent": 1, "for": "1d", "gates":
                {"failures": "<= 0.02", "p99": "<= 2s", "receipts": ">= 0.97", "unknown": "<= 0.001"}},
            {"stage": "rollout", "percent": 12.25, "for": "30m", "gates":
                {"failures": {"limit": "<= 2%", "samples": 5000}, "receipts": "none", "unknown": "none"}},
            {"stage": "hold", "for": "14d"},
            {"stage": "complete"}
        ]}
        """

    private func read(_ text: String) throws -> MigrationPlan {
        try MigrationReader.read(try JSONParser.parse(text), defaultUnit: .device)
    }

    private func faults(
        _ text: String,
        _ facts: UpstreamFacts = UpstreamFacts(vendor: .upmc),
        without: Set<MigrationMetric> = [],
        withoutTransport: Int = 0
    ) throws -> [String] {
        let measurable = Set(MigrationMetric.allCases).subtracting(without)
        return MigrationCheck(try read(text), facts, measurable: measurable, withoutTransport: withoutTransport)
            .faults.map(\.description)
    }

    @Test func theExampleIsRead() throws {
        let plan = try read(Self.file)
        #expect(plan.id == "leave-upmc" && plan.app == "shop" && plan.upstream == "old-upmc" && plan.unit == .user)
        #expect(plan.onFailure == .rollback && plan.advance == .manual && !plan.isOnlyIOS)
        #expect(plan.steps.map(\.stage) == [.observe, .serve, .rollout(100), .rollout(1225), .hold, .complete])
        #expect(plan.steps.map { $0.duration / .seconds(60) } == [2880, 1440, 1440, 30, 20_160, 0])
        #expect(plan.steps[0].gates.map(\.limit) == [0.999, 0.99, 1])
        #expect(plan.steps[1].gates.map(\.limit) == [0.005, 0.995, 60])
        #expect(plan.steps[2].gates.map(\.limit) == [0.02, 2, 0.97, 0.001])
        #expect(plan.steps[3].gates == [MigrationGate(.failures, 0.02, samples: 5000)])
        #expect(plan.steps[3].waived == [.receipts, .unknown])
        #expect(plan.steps.map(\.stage.description)[3] == "rollout 12.25 %")
        #expect(try faults(Self.file) == [])
    }

    @Test(arguments: [
        (#""by": "user""#, #""by": "phone""#, "migration.by"),
        (#""onGateFailure": "rollback""#, #""onGateFailure": "stop""#, "migration.onGateFailure"),
        (#""app": "shop""#, #""apps": "shop""#, "migration.app"),
        (#""from": "old-upmc""#, #""from": "old-upmc", "platforms": ["android"]"#, "migration.platforms"),
        (#""stage": "observe""#, #""stage": "watch""#, "steps[0].stage"),
        (#""stage": "observe""#, #""stage": "observe", "percent": 1"#, "steps[0].percent"),
        (#""percent": 1,"#, "", "steps[2].percent"), (#""percent": 1,"#, #""percent": 0.001,"#, "steps[2].percent"),
        (#""for": "2d""#, #""for": "2w""#, "steps[0].for"), (#""for": "2d""#, #""for": "d""#, "steps[0].for"),
        (#"">= 0.999""#, #""<= 0.999""#, "steps[0].gates.observed"),
        (#"">= 0.999""#, #""> 0.999""#, "steps[0].gates.observed"),
        (#"">= 0.999""#, #"">= -1""#, "steps[0].gates.observed"), (#"">= 0.999""#, "1", "steps[0].gates.observed"),
        (#""observed": "#, #""speed": "#, "steps[0].gates.speed"),
        (#""samples": 5000"#, #""samples": -1"#, "steps[3].gates.failures.samples"),
    ])
    func aMistakeIsNamed(old: String, new: String, path: String) throws {
        do {
            _ = try read(Self.file.replacing(old, with: new, maxReplacements: 1))
            Issue.record("taken: \(new)")
        } catch let problem as ProvisioningProblem {
            #expect(problem.path.hasPrefix(path), "\(problem.path): \(problem.problem)")
        }
    }

    @Test(arguments: [
        (#""id": "leave-upmc""#, #""id": "with space""#, "id:"),
        (#", "senders": ">= 1""#, "", #"steps: a gate 'senders: ">= 1"' is needed"#),
        (#""senders": ">= 1""#, #""senders": ">= 0""#, #"steps: a gate 'senders: ">= 1"' is needed"#),
        (#""senders": ">= 1""#, #""senders": ">= 99.9%""#, #"steps: a gate 'senders: ">= 1"' is needed"#),
        (#""senders": ">= 1""#, #""senders": "none""#, #"steps: a gate 'senders: ">= 1"' is needed"#),
        (#"{"stage": "serve", "for": "1d""#, #"{"stage": "observe", "for": "1d""#, "steps: a stage 'serve'"),
        (#"{"stage": "hold", "for": "14d"},"#, "", "steps: a stage 'hold'"),
        (#""percent": 12.25"#, #""percent": 1"#, "steps[3]: rollout 1 %"),
        (#""percent": 1,"#, #""percent": 0,"#, "steps[2]: percent"),
        (#""for": "2d""#, #""for": "91d""#, "steps[0]: for"),
        (#""receipts": "none", "#, "", "steps[3]: receipts: is needed"),
        (#"">= 0.999""#, #"">= 1.5""#, "steps[0]: observed: the limit"),
        (#"{"stage": "complete"}"#, #"{"stage": "complete", "gates": {"p99": "<= 1s"}}"#, "steps[5]: complete has no"),
    ])
    func aFaultIsNamedWithItsStep(old: String, new: String, start: String) throws {
        let found = try faults(Self.file.replacing(old, with: new, maxReplacements: 1))
        #expect(found.contains { $0.hasPrefix(start) }, "\(found)")
    }

    @Test func allSendersMayBeProvenInAnyStepBeforePushesMove() throws {
        let share = Self.file.replacing(#""senders": ">= 1""#, with: #""senders": ">= 100%""#)
        #expect(try faults(share) == [])
        let later = Self.file.replacing(#""senders": ">= 1""#, with: #""senders": ">= 50%""#)
            .replacing(#""devices": "<= 0.5%""#, with: #""devices": "<= 0.5%", "senders": ">= 1""#)
        #expect(try faults(later) == [])
        let late = Self.file.replacing(#", "senders": ">= 1""#, with: "")
            .replacing(#""failures": "<= 0.02""#, with: #""failures": "<= 0.02", "senders": ">= 1""#)
        #expect(try faults(late).map { $0.prefix(21) } == ["steps: a gate 'sender"])
    }

    @Test func ametricThatCannotBeMeasuredMustBeGivenUpByName() throws {
        let braze = UpstreamFacts(vendor: .braze, addressesUsers: true, splitsPlatforms: true)
        let found = try faults(Self.file, braze, without: [.receipts])
        #expect(found.map { $0.prefix(18) } == ["steps[2]: receipts"])
        let waived = Self.file.replacing(#""receipts": ">= 0.97""#, with: #""receipts": "none""#)
        #expect(try faults(waived, braze, without: [.receipts]) == [])
    }

    @Test func devicesWithoutADirectTransportStayOrForbidTheEnd() throws {
        #expect(try faults(Self.file, withoutTransport: 3).map { $0.prefix(9) } == ["complete:"])
        let ios = Self.file.replacing(#""from": "old-upmc""#, with: #""from": "old-upmc", "platforms": ["ios"]"#)
        #expect(try faults(ios, withoutTransport: 3) == [])
        let whole = UpstreamFacts(vendor: .upmc, addressesUsers: true)
        #expect(try faults(ios, whole, withoutTransport: 3).map { $0.prefix(10) } == ["platforms:"])
    }

    // When all pushes have moved, no other half is left.
    @Test func receiptsCannotBeComparedAtTheEnd() throws {
        let whole = Self.file.replacing(#""percent": 12.25"#, with: #""percent": 100"#)
            .replacing(#""receipts": "none""#, with: #""receipts": ">= 0.97""#)
        #expect(try faults(whole).map { $0.prefix(28) } == ["steps[3]: receipts: cannot b"])
        #expect(
            try faults(whole.replacing(#"">= 0.97", "unknown": "none""#, with: #""none", "unknown": "none""#)) == []
        )
    }

    // Sends are served then, so that nothing about proxied ones is measured: the gate would never end the step.
    @Test(arguments: ["reach", "payload", "senders"]) func sendsAreNotObservedAtTheEnd(_ name: String) throws {
        let sign = try #require(MigrationMetric(rawValue: name)).wantsMore ? ">=" : "<="
        let hold = #"{"stage": "hold", "for": "14d"}"#
        let gated = #"{"stage": "hold", "for": "14d", "gates": {"\#(name)": "\#(sign) 0.5"}}"#
        let found = try faults(Self.file.replacing(hold, with: gated))
        #expect(found.map { $0.prefix(28 + name.count) } == ["steps[4]: \(name): cannot be measur"])
        let waived = gated.replacing("\(sign) 0.5", with: "none")
        #expect(try faults(Self.file.replacing(hold, with: waived)) == [])
        // A part of the sends is still proxied.
        let part = Self.file.replacing(#""p99": "<= 2s","#, with: #""p99": "<= 2s", "\#(name)": "\#(sign) 0.5","#)
        #expect(try faults(part) == [])
    }

    @Test func aVendorWithoutReceiptsMeasuresTheRest() {
        let without = MigrationMetric.measurable(reportsReceipts: false)
        #expect(Set(MigrationMetric.allCases).subtracting(without) == [.receipts, .unknown])
        #expect(MigrationMetric.measurable(reportsReceipts: true) == Set(MigrationMetric.allCases))
    }

    @Test func usersStayTogetherWhereTheVendorAddressesThem() throws {
        let file = Self.file.replacing(#""by": "user""#, with: #""by": "device""#)
        #expect(try faults(file) == [])
        #expect(try faults(file, UpstreamFacts(vendor: .upmc, addressesUsers: true)).map { $0.prefix(3) } == ["by:"])
    }

    @Test func gatesNeedTheirSamples() {
        for metric in MigrationMetric.allCases {
            let gate = MigrationGate(metric, 0.5, samples: 1)
            #expect(gate.samples == metric.minimumSamples)
            let (high, low) = (
                MigrationMeasurement(0.6, samples: gate.samples), MigrationMeasurement(0.4, samples: 5000)
            )
            #expect(gate.verdict(high) == (metric.wantsMore ? .passed(high) : .failed(high)))
            #expect(gate.verdict(low) == (metric.wantsMore ? .failed(low) : .passed(low)))
            #expect(gate.verdict(nil) == .missing(gate.samples))
            #expect(gate.verdict(.init(0.6, samples: gate.samples - 1)) == .missing(1))
        }
    }
}
