import CommandSupport
import EngineStore
import Foundation
import MigrationStore
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway

/// Decisions about migrations that the machine permits and the node's provisioner refuses, by what the database has (docs/migrating.md).
@Suite(.serialized, .timeLimit(.minutes(5))) struct NativeMigrationTests {
    private func order(_ stage: NativeStage, _ word: String, _ id: String) async throws -> HTTPCaller.Answer {
        try await stage.native(.POST, "/v1/migrations/\(id)/\(word)")
    }

    private func carriesOut(_ stage: NativeStage, _ word: String, _ id: String) async throws {
        let answer = try await order(stage, word, id)
        #expect(answer.status == 200, "\(word) \(id): \(answer.text)")
    }

    /// A refusal changes neither the migration nor the rules of its app.
    private func refuses(_ stage: NativeStage, _ word: String, _ id: String, _ reason: String) async throws {
        func found() async throws -> [JSON?] {
            let migration = try await stage.native(.GET, "/v1/migrations/\(id)").json
            let routes = try await stage.native(.GET, "/v1/apps/shop/routes").json
            return [migration?["status"], migration?["step"], migration?["revision"], routes?["version"]]
        }
        let before = try await found()
        let answer = try await order(stage, word, id)
        #expect(answer.status == 422 && answer.text.contains(reason), "\(word) \(id): \(answer.status) \(answer.text)")
        #expect(try await found() == before, "\(word) \(id)")
    }

    @Test func aDecisionIsRefusedByWhatTheDatabaseHas() async throws {
        try await NativeStage.on { stage in
            let upstream: JSON = ["kind": "upstream-rationalowl", "url": "https://vendor.example"]
            let made = try await stage.native(.PUT, "/v1/credentials/old", upstream)
            try #require(made.status == 201, "\(made.text)")
            try await oneMigrationOfAnAppRuns(stage)
            try await noDeviceLosesItsOnlyTransport(stage)
            try await aRetiredAppHasNoRules(stage)
        }
    }

    // MARK: Another migration of the app

    private static func plan(_ id: String) -> JSON {
        [
            "migration": ["id": .string(id), "app": "shop", "from": "old"],
            "steps": [["stage": "observe"], ["stage": "serve"]],
        ]
    }

    private func oneMigrationOfAnAppRuns(_ stage: NativeStage) async throws {
        for id in ["first", "second"] {
            let stored = try await stage.native(.POST, "/v1/migrations", Self.plan(id))
            try #require(stored.status == 200, "\(stored.text)")
        }
        let isTaken = "the migration 'first' of the app has not ended"
        try await carriesOut(stage, "start", "first")
        try await refuses(stage, "start", "second", isTaken)
        // One that is paused has its rules in force, and is not in its own way.
        try await carriesOut(stage, "pause", "first")
        try await refuses(stage, "start", "second", isTaken)
        try await carriesOut(stage, "resume", "first")
        try await carriesOut(stage, "rollback", "first")
        try await carriesOut(stage, "start", "second")
        try await refuses(stage, "resume", "first", "the migration 'second' of the app has not ended")
        try await carriesOut(stage, "rollback", "second")
    }

    // MARK: Devices without a direct transport

    /// Stores a migration whose pushes have all moved: its next step is the end.
    private func rollOut(_ stage: NativeStage, _ id: String, isOnlyIOS: Bool) async throws {
        var head: JSONObject = ["id": .string(id), "app": "shop", "from": "old"]
        if isOnlyIOS { head["platforms"] = ["ios"] }
        let migration = NewMigration(
            id: id,
            app: "shop",
            upstream: "old",
            plan: [
                "migration": .object(head), "steps": [["stage": "serve"], ["stage": "hold"], ["stage": "complete"]],
            ],
            state: ["status": "rolledOut", "step": 1]
        )
        let store = PostgresMigrationStore(engine: stage.database.engine)
        #expect(try await store.put(migration, in: NativeStage.tenant, by: .key("test")) == .stored)
    }

    /// Imports devices of the vendor.
    private func take(_ stage: NativeStage, _ table: String) async throws {
        let path = "/v1/apps/shop/imports?vendor=rationalowl"
        let call = NativeStage.Call(method: .POST, path: path, body: Array(table.utf8), type: "text/csv")
        let answer = try await stage.call(call)
        try #require(answer.status == 200 && answer.json?["rejected"] == 0, "\(answer.text)")
    }

    private func noDeviceLosesItsOnlyTransport(_ stage: NativeStage) async throws {
        try await rollOut(stage, "leave", isOnlyIOS: false)
        try await rollOut(stage, "ios", isOnlyIOS: true)
        // One has no token, and one is a device of another platform.
        let token = String(repeating: "ab", count: 32)
        try await take(stage, "key,platform,token\nk1,ios,\nk2,android,\nk3,ios,\(token)\n")
        for word in ["complete", "advance"] {
            let reason = "2 devices of the last 30 days have no direct transport; stay in 'hold'"
            try await refuses(stage, word, "leave", reason)
        }
        // The devices that cannot be pushed to directly stay with the vendor.
        try await carriesOut(stage, "complete", "ios")
        #expect(try await stage.native(.GET, "/v1/migrations/ios").json?["status"] == "completed")
        try await take(stage, "key,token\nk1,\(String(repeating: "cd", count: 32))\n")
        try await refuses(stage, "complete", "leave", "1 devices of the last 30 days have no direct transport")
        // Nobody has seen the other one for long.
        for unseen in [
            """
            UPDATE gateway.device SET seen_at = NULL WHERE tenant_id = 'own' AND device_id = (
                SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = 'own' AND i.key = 'k2')
            """,
            """
            UPDATE gateway.identity SET registered_at = now() - interval '31 days', seen_at = NULL
            WHERE tenant_id = 'own' AND key = 'k2'
            """,
        ] {
            _ = try await stage.database.engine.run(Statement(unseen), tenant: nil)
        }
        try await carriesOut(stage, "complete", "leave")
        #expect(try await stage.native(.GET, "/v1/migrations/leave").json?["status"] == "completed")
    }

    // MARK: Retired apps

    /// A decision that needs rules says why it has no effect, instead of asking for a repetition. The clock can be stopped.
    private func aRetiredAppHasNoRules(_ stage: NativeStage) async throws {
        try await carriesOut(stage, "resume", "second")
        let retire = """
            UPDATE gateway.app SET retired_at = now(), route_version = NULL WHERE tenant_id = 'own' AND app_id = 'shop'
            """
        _ = try await stage.database.engine.run(Statement(retire), tenant: nil)
        for word in ["advance", "rollback"] {
            try await refuses(stage, word, "second", "the tenant does not have the app 'shop' any longer")
        }
        try await carriesOut(stage, "pause", "second")
    }
}
