import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway

/// An app leaves its vendor, by `push-gateway migration` alone: the vendor's stub, the gateway and the push service are processes (docs/migrating.md).
@Suite(.serialized, .timeLimit(.minutes(10))) struct MigrationRunTests {
    /// `percent` of the first rollout, and gates that need 200 samples.
    private static let file = """
        migration: { id: leave, app: shop, from: old, by: device, onGateFailure: hold }
        steps:
          - { stage: observe, gates: { observed: ">= 0.99", senders: ">= 1" } }
          - { stage: serve, gates: { backlog: "<= 60s", reach: ">= 0.99" } }
          - { stage: rollout, percent: 50, gates: { failures: "<= 0.02", receipts: ">= 0.9", unknown: "<= 0.01" } }
          - { stage: rollout, percent: 100, gates: { failures: "<= 0.02", receipts: none, unknown: "<= 0.01" } }
          - { stage: hold }
          - { stage: complete }
        """

    @Test func anAppLeavesItsVendor() async throws {
        try await LeavingStage.with { stage in
            let caller = stage.caller
            try await refuse(stage)
            let planned = try await stage.plan(Self.file)
            #expect(planned.contains("leave is planned") && planned.contains("no devices were imported"), "\(planned)")
            try await stage.migration("start", "leave")
            try await observe(stage)
            try await apply(stage)
            let sender = try await caller.register()

            // With ten samples nothing advances, however good they are.
            _ = try await LeavingApp.each(10) { try await caller.install($0) }
            _ = try await LeavingApp.each(10) { try await caller.send(to: $0, from: sender, "ten") }
            let early = try await stage.migration("advance", "leave", fails: true)
            #expect(early.contains("more samples"), "\(early)")
            let shown = try await stage.migration("status", "leave")
            #expect(
                shown.contains("samples are missing") && shown.contains("running: step 1 of 6, observe"),
                "\(shown)"
            )

            _ = try await LeavingApp.each { try await caller.install($0) }
            _ = try await LeavingApp.each { try await caller.send(to: $0, from: sender, "observed") }
            try await stage.advance()

            try await serve(stage, sender)
            try await rollOut(stage, sender)
            try await stage.follows("no send is proxied") { try await stage.proxied(40, from: sender) == 0 }
            try await stage.sendAndRead(from: sender, "all")
            try await stage.advance()
            let held = try await stage.status()
            #expect(held["status"] == "rolledOut" && held["stage"] == "hold", "\(held)")
            try await stage.migration("complete", "leave")
            #expect(try await stage.status()["status"] == "completed")
            try await stage.migration("rollback", "leave", fails: true)
            try await end(stage)
        }
    }

    /// Pushes would move at once, without a proof of the senders, a gate for receipts, or a way back from the end.
    private static let faulty = """
        migration: { id: leave, app: shop, from: old, by: device }
        steps:
          - { stage: rollout, percent: 50, gates: { failures: "<= 0.02", unknown: none } }
          - { stage: complete }
        """

    /// A plan with faults: each of them is named, the status is 1, and nothing is stored.
    private func refuse(_ stage: LeavingStage) async throws {
        let path = stage.world.material.path("faulty.yaml")
        try Self.faulty.write(toFile: path, atomically: true, encoding: .utf8)
        let refused = try await stage.world.apiCommand(["migration", "plan", path])
        #expect(refused.status == 1, "\(refused.log)")
        for reason in [
            "fault: steps: a stage 'serve' must come before pushes move",
            "fault: steps: a gate 'senders: \">= 1\"' is needed before pushes move",
            "fault: steps: a stage 'hold' must come before 'complete'",
            "fault: steps[0]: receipts: is needed in a rollout", "leave may not start; nothing was stored",
        ] {
            #expect(refused.log.contains(reason), "\(reason): \(refused.log)")
        }
        #expect(try await stage.world.native("GET", "/v1/migrations/leave").status == 404)
    }

    private func observe(_ stage: LeavingStage) async throws {
        try await stage.proxies()
        // Nobody else changes the rules.
        let refused = try await stage.world.apiCommand(["routes", "set", "--app", "shop", "--none"])
        #expect(refused.status != 0 && refused.log.contains("leave"), "\(refused.log)")
    }

    private static let base: JSON = ["calls": [["kinds": ["read"], "action": "serve"]]]

    /// A provisioning file replaces the base of the rules. The overlay of the migration stays in front of it, and the migration goes on.
    private func apply(_ stage: LeavingStage) async throws {
        let world = stage.world
        let before = try #require(try await world.native("GET", "/v1/apps/shop/routes").json)
        let app = "      - id: shop\n"
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            .replacing("read, content]", with: "read, content, admin]")
        try #require(yaml.contains(app))
        let routes = "        routes: { calls: [{ kinds: [read], action: serve }] }\n"
        try yaml.replacing(app, with: app + routes)
            .write(toFile: world.material.path("based.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("based.yaml")
        #expect(applied.status == 0, "\(applied.log)")
        #expect(applied.log.contains("the overlay of version 1 is in front of the routes of the app 'shop'"))

        let after = try #require(try await world.native("GET", "/v1/apps/shop/routes").json)
        #expect(before["version"] == 1 && before["origin"] == "migration", "\(before)")
        #expect(after["version"] == 2 && after["origin"] == "file", "\(after)")
        #expect(after["base"] == Self.base && before["base"] != Self.base, "\(after)")
        #expect(after["overlay"] == before["overlay"] && after["overlay"]?["calls"]?.array?.count == 1, "\(after)")
        #expect(try await stage.status()["status"] == "running")
        let tried = try await world.native(
            "POST",
            "/v1/apps/shop/routes/test",
            ["vendor": "rationalowl", "kind": "device"]
        )
        #expect(tried.json?["call"]?["action"] == "proxy", "\(tried.text)")
    }

    private func serve(_ stage: LeavingStage, _ sender: String) async throws {
        let caller = stage.caller
        let shown = try await stage.migration("status", "leave")
        #expect(shown.contains("step 2 of 6, serve") && shown.contains("a rollback now:"), "\(shown)")
        // Devices are served here, and the vendor receives them too.
        let before = try await stage.vendor.count(to: "/pushApp/installApp")
        try await stage.follows("the vendor receives registrations") {
            try await caller.install(LeavingApp.devices[1])
            return try await stage.vendor.count(to: "/pushApp/installApp") > before
        }
        try await stage.counts()
        _ = try await LeavingApp.each(260) { try await caller.send(to: $0, from: sender, "served") }
        try await stage.advance()
    }

    /// A forgotten back end stops the rollout; then it is taken back, and continued.
    private func rollOut(_ stage: LeavingStage, _ sender: String) async throws {
        let caller = stage.caller
        try await stage.follows("half of the sends are served") {
            let count = try await stage.proxied(64, from: sender)
            return (8...56).contains(count)
        }
        try await stage.counts()
        _ = try await LeavingApp.each(300) { try await caller.readUnknown(on: $0) }
        try await eventually("the migration halts", within: .seconds(30)) {
            try await stage.status()["status"] == "halted"
        }
        let halted = try await stage.migration("status", "leave")
        #expect(halted.contains("reason: unknown failed"), "\(halted)")
        let failures = try await stage.world.metric("migration_gate_failures_total", #"metric="unknown""#)
        #expect(failures == 2)

        try await stage.migration("rollback", "leave")
        try await stage.follows("sends are proxied again") { try await stage.proxied(40, from: sender) == 40 }
        try await stage.migration("resume", "leave")
        #expect(try await stage.status()["stage"] == "rollout 50 %")
        try await stage.follows("half of the sends are served again") {
            try await stage.proxied(64, from: sender) <= 56
        }
        try await stage.sendAndRead(from: sender, "half")
        try await stage.advance()
        let share = try await stage.status()
        #expect(share["stage"] == "rollout 100 %", "\(share)")
    }

    /// The vendor is not used any longer, and everything is written down.
    private func end(_ stage: LeavingStage) async throws {
        let path = "/v1/apps/shop/routes/test"
        for kind in ["device", "receipt", "send"] {
            let tried = try await stage.world.native("POST", path, ["vendor": "rationalowl", "kind": .string(kind)])
            #expect(tried.json?["call"]?["action"] == "serve", "\(tried.text)")
        }
        let notes = try await stage.world.value(
            """
            SELECT string_agg(h.status, ',' ORDER BY h.revision) AS value FROM gateway.migration_history h
            WHERE h.status <> 'running'
            """
        )
        // An evaluation may add a row when it finds a step complete.
        #expect(notes.hasPrefix("planned,halted,rolledBack,rolledOut") && notes.hasSuffix(",completed"), "\(notes)")
        let versions = try await stage.world.value(
            """
            SELECT (count(*) = max(r.version))::text || ' ' ||
                bool_and(r.origin = CASE r.version WHEN 2 THEN 'file' ELSE 'migration' END)::text AS value
            FROM gateway.route_set r
            """
        )
        #expect(versions == "true true")
        #expect(try await stage.world.native("GET", "/v1/apps/shop/routes").json?["base"] == Self.base)
        let twice = try await stage.world.stats()["repeats"]?.int
        #expect(twice == 0)
    }
}
