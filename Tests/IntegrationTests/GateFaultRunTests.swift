import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway

/// Gates that are broken by faults of the outside world: the migration stops and says why, and without the gate the same fault passes (docs/migrating.md). `GateFaultTests`
/// breaks the other gates by their figures, and `MigrationRunTests` has the forgotten back end.
@Suite(.serialized, .timeLimit(.minutes(10))) struct GateFaultRunTests {
    // MARK: Before pushes move

    private static let early = """
        migration: { id: leave, app: shop, from: old, by: device, onGateFailure: rollback }
        steps:
          - { stage: observe, gates: { responses: ">= 0.99" } }
          - { stage: serve, gates: { devices: "<= 0.5%" } }
        """
    /// It goes on by itself, as soon as its only gate has enough samples.
    private static let earlyControl = """
        migration: { id: free, app: shop, from: old, by: device, onGateFailure: rollback, advance: auto }
        steps:
          - { stage: observe, gates: { observed: ">= 0.99" } }
          - { stage: serve }
        """
    /// More than the 200 samples of a gate.
    private static let few = 220
    /// The `cId` of the vendor's wrong answers; that of the gateway is 303.
    private static let wrongField: JSON = 304

    @Test func aWrongFieldAndMissingDevicesHaltTheMigration() async throws {
        try await LeavingStage.with { stage in
            try await stage.plan(Self.early)
            try await stage.migration("start", "leave")
            try await stage.proxies()
            try await stage.counts()
            try await install(stage)
            try await passes("responses", stage)
            try await answerWrongly(true, stage)
            try await install(stage)
            try await stops("halted", "responses", stage)

            try await answerWrongly(false, stage)
            try await compared(stage)
            try await stage.migration("resume", "leave")
            try await stage.counts()
            try await install(stage)
            try await stage.advance()
            try await compare(stage, missing: 0)
            try await passes("devices", stage)
            try await compare(stage, missing: 40)
            try await stops("halted", "devices", stage)
            try await givesEverythingBack(stage)

            // The control: the same faults without the gates that they break.
            try await stage.plan(Self.earlyControl)
            try await stage.migration("start", "free")
            try await stage.counts()
            // Two evaluations have found no samples.
            #expect(try await stage.status(of: "free")["stage"] == "observe")
            try await answerWrongly(true, stage)
            try await install(stage)
            try await answerWrongly(false, stage)
            try await advancesByItself(stage)
            try await compare(stage, missing: 40)
            try await goesOn(stage)
        }
    }

    private func install(_ stage: LeavingStage) async throws {
        let caller = stage.caller
        _ = try await LeavingApp.each(Self.few) { try await caller.install($0) }
    }

    /// Whether the vendor answers registrations with a field that the gateway would write otherwise.
    private func answerWrongly(_ isWrong: Bool, _ stage: LeavingStage) async throws {
        try await stage.vendor.removeFaults()
        guard isWrong else { return }
        let answer: JSON = [
            "cId": Self.wrongField, "aId": .string(stage.caller.account), "rc": 1, "cmt": "정상처리", "usRid": "SVR",
        ]
        try await stage.vendor.add(fault: [
            "fault": "status", "path": "/pushApp/installApp", "status": 200, "carriedOut": true,
            "headers": ["Content-Type": "application/json"], "body": .string(JSONWriter.text(answer)),
        ])
    }

    /// The gateway answers registrations in the stage `serve`, and a full rollback leaves them to the vendor.
    private func givesEverythingBack(_ stage: LeavingStage) async throws {
        let (caller, device) = (stage.caller, LeavingApp.devices[0])
        try await answerWrongly(true, stage)
        #expect(try await caller.install(device)?["cId"] == 303)
        try await stage.migration("rollback", "leave", "--full")
        try await stage.follows("the vendor answers registrations") {
            try await caller.install(device)?["cId"] == Self.wrongField
        }
        // Calls that were served until then have arrived too.
        try await eventually("no call waits for the vendor") {
            try await stage.world.value("SELECT count(*)::text AS value FROM gateway.outbox") == "0"
        }
        let before = try await stage.vendor.count(to: "/pushApp/installApp")
        #expect(try await caller.install(device)?["cId"] == Self.wrongField)
        // The vendor has the call when the caller has the answer, and has it once.
        #expect(try await stage.vendor.count(to: "/pushApp/installApp") == before + 1)
        try await answerWrongly(false, stage)
    }

    /// Waits until the answers to all registrations were compared, so that the step that follows counts none of them.
    private func compared(_ stage: LeavingStage) async throws {
        let calls = try await stage.vendor.count(to: "/pushApp/installApp")
        try await eventually("all answers are compared") {
            let figures = try await stage.world.native("GET", "/v1/apps/shop/parity").json?["metrics"]?.array ?? []
            let samples = figures.first { $0["metric"]?.string == "responses" }?["samples"]?.int ?? 0
            return samples >= calls
        }
        try await stage.counts()
    }

    /// Compares the devices with an export of the vendor, which has some that are not known here.
    private func compare(_ stage: LeavingStage, missing: Int) async throws {
        let path = stage.world.material.path("compared.csv")
        let rows = LeavingApp.devices.prefix(Self.few + missing).map { "\($0.key),\($0.token)\n" }
        try ("key,token\n" + rows.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        let done = try await stage.world.command([
            "devices", "import", path, "--compare", "--max-difference", "100%", "--tenant", "acme", "--app", "shop",
            "--vendor", "rationalowl",
        ])
        #expect(done.status == 0, "\(done.log)")
        // Parity states the comparison too.
        let shown = try await stage.world.native("GET", "/v1/apps/shop/parity").json?["devices"]?.array?.first
        let samples = shown?["samples"]?.array ?? []
        #expect(shown?["vendor"] == "rationalowl" && shown?["usable"] == true)
        #expect(shown?["onlyInExport"]?.int ?? 0 >= Int64(missing))
        #expect(samples.count <= 20 && (missing < 20 || samples.count == 20))
        #expect(samples.allSatisfy { $0["key"]?.string?.hasPrefix("…") == true })
    }

    // MARK: While pushes move

    /// The healthy 99th percentile is far below 3 s, the slow one above 5 s.
    private static let late = """
        migration: { id: leave, app: shop, from: old, by: device, onGateFailure: rollback }
        steps:
          - { stage: observe, gates: { senders: ">= 1" } }
          - { stage: serve }
          - { stage: rollout, percent: 50, gates: { failures: none, receipts: ">= 0.9", unknown: none } }
          - { stage: rollout, percent: 100, gates: { p99: "<= 3s", failures: none, receipts: none, unknown: none } }
        """
    private static let lateControl = """
        migration: { id: free, app: shop, from: old, by: device, onGateFailure: rollback }
        steps:
          - { stage: observe, gates: { senders: ">= 1" } }
          - { stage: serve }
          - { stage: rollout, percent: 50, gates: { failures: none, receipts: none, unknown: none } }
          - { stage: rollout, percent: 100, gates: { failures: none, receipts: none, unknown: none } }
        """
    private static let slowMilliseconds = 5000

    @Test func lostReceiptsAndSlowPushesRollTheMigrationBack() async throws {
        try await LeavingStage.with { stage in
            let caller = stage.caller
            try await stage.plan(Self.late)
            try await stage.migration("start", "leave")
            try await stage.proxies()
            let sender = try await caller.register()
            _ = try await LeavingApp.each { try await caller.install($0) }
            try await rollOut(stage, "leave", sender)
            _ = try await sendAndRead(stage, sender, loses: false)
            try await passes("receipts", stage)
            let lost = try await sendAndRead(stage, sender, loses: true)
            try await stops("rolledBack", "receipts", stage)
            try await stage.follows("sends are proxied again") { try await stage.proxied(40, from: sender) == 40 }

            // The receipts arrive after all.
            try await stage.read(lost)
            try await stage.migration("resume", "leave")
            try await stage.follows("half of the sends are served") { try await stage.proxied(40, from: sender) < 40 }
            _ = try await sendAndRead(stage, sender, loses: false)
            try await passes("receipts", stage)
            try await stage.advance()
            try await delay(Self.slowMilliseconds, stage)
            _ = try await LeavingApp.each(Self.few) { try await caller.send(to: $0, from: sender, "slow") }
            try await stops("rolledBack", "p99", stage)
            try await delay(0, stage)

            // The control: the same faults without the gates, and a back end that was forgotten.
            try await stage.plan(Self.lateControl)
            try await stage.migration("start", "free")
            try await rollOut(stage, "free", sender)
            _ = try await sendAndRead(stage, sender, loses: true)
            _ = try await LeavingApp.each(Self.few) { try await caller.readUnknown(on: $0) }
            try await goesOn(stage)
            try await stage.advance("free")
            try await delay(Self.slowMilliseconds, stage)
            _ = try await LeavingApp.each(40) { try await caller.send(to: $0, from: sender, "slow") }
            try await goesOn(stage)
            #expect(try await stage.status(of: "free")["stage"] == "rollout 100 %")
        }
    }

    /// From the first step to the rollout of 50 %.
    private func rollOut(_ stage: LeavingStage, _ id: String, _ sender: String) async throws {
        let caller = stage.caller
        try await stage.counts()
        _ = try await LeavingApp.each(Self.few) { try await caller.send(to: $0, from: sender, "observed") }
        try await stage.advance(id)
        try await stage.advance(id)
        try await stage.follows("half of the sends are served") {
            let count = try await stage.proxied(40, from: sender)
            return (4...36).contains(count)
        }
    }

    /// Sends to each device, and returns the messages without a report. Those of the gateway are reported first or not at all: at no moment is a rate of receipts lower than
    /// that of the vendor only because the devices have not reported yet.
    private func sendAndRead(_ stage: LeavingStage, _ sender: String, loses: Bool) async throws -> [String: String] {
        let sent = try await stage.send(from: sender, loses ? "lost" : "healthy")
        let pushes = try await stage.vendor.control.call("GET", "/_stub/pushes?limit=200000").json?["pushes"]?.array
        let theirs = Set((pushes ?? []).compactMap { $0["message"]?.string })
        let moved = sent.filter { !theirs.contains($0.value) }
        if !loses { try await stage.read(moved) }
        try await stage.read(sent.filter { theirs.contains($0.value) })
        return loses ? moved : [:]
    }

    /// Delays the answers of the push service.
    private func delay(_ milliseconds: Int, _ stage: LeavingStage) async throws {
        let answer = try await stage.world.control.call(
            "POST",
            "/_simulator/latency",
            ["latency": .int(milliseconds)]
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    // MARK: Gates

    private func passes(_ metric: String, _ stage: LeavingStage) async throws {
        try await eventually("the gate \(metric) passes") {
            let gates = try await stage.status()["gates"]?.array ?? []
            return gates.first { $0["metric"]?.string == metric }?["verdict"] == "passed"
        }
    }

    /// Waits until the gate has stopped the migration, which takes two evaluations.
    private func stops(_ status: String, _ metric: String, _ stage: LeavingStage) async throws {
        try await eventually("\(metric) stops the migration") {
            try await stage.status()["status"]?.string == status
        }
        let shown = try await stage.migration("status", "leave")
        #expect(shown.contains("reason: \(metric) failed"), "\(shown)")
        #expect(try await stage.world.metric("migration_gate_failures_total", "metric=\"\(metric)\"") == 2)
    }

    /// The gateway puts the next step of the control in force, without a decision of an operator.
    private func advancesByItself(_ stage: LeavingStage) async throws {
        try await eventually("the next step begins by itself") {
            try await stage.status(of: "free")["stage"] == "serve"
        }
        let history = try await stage.status(of: "free")["history"]?.array ?? []
        let change = history.first { $0["note"]?.string == "serve is in force" }
        #expect(change?["actor"] == "gateway" && change?["status"] == "running", "\(history)")
    }

    /// Evaluations after the fault find the step of the control complete. Two would have stopped a migration whose gate fails.
    private func goesOn(_ stage: LeavingStage) async throws {
        try await stage.evaluations(5)
        try await eventually("the step is complete") { try await stage.status(of: "free")["ready"] == true }
        #expect(try await stage.status(of: "free")["status"] == "running")
    }
}
