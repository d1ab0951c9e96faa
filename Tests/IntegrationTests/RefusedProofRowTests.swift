import CommandSupport
import Foundation
import Model
import Testing

/// Attacks with wrong proofs against a real gateway, and the few rows of the audit that they leave.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applySenders() })
struct RefusedProofRowTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func rows(_ filter: String) async throws -> Int {
        let count = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.audit WHERE action = 'refuse' AND \(filter)"
        )
        return try #require(Int(count))
    }

    @Test func anAttackOnSendsLeavesOneRowAtOnceAndNoneAfterIt() async throws {
        for number in 0..<200 {
            let body: JSON = [
                "APP_ID": "bank.closed", "PUSH_ID_TYPE": "@01", "PUSH_ID": [.string("victim-\(number)")], "ALERT": "a",
                "SEND_TYPE": "I",
            ]
            _ = try await world.http.call("POST", "/ipns/send", body, headers: ["X-API-Key": "guess-\(number)"])
        }
        let filter = "subject = 'app closed' AND data->>'vendor' = 'ipns' AND data->>'proof' = 'sender'"
        try await eventually("the first refusal is audited") { try await rows(filter) == 1 }
        #expect(try await rows("actor <> 'gateway'") == 0)
        #expect(try await rows("data::text ~ 'victim|guess'") == 0, "neither users nor secrets")
        let counted = try await world.metric("proofs_refused_total", "vendor=\"ipns\"")
        #expect(counted >= 200)
        #expect(try await rows("true") <= 4)
    }

    @Test func aKeyWithoutTheScopeIsNamedAndAnUnknownOneIsCountedOnly() async throws {
        for number in 0..<20 {
            let unknown = try await world.http.call("GET", "/v1/messages", bearer: "unknown-\(number)")
            #expect(unknown.status == 401)
        }
        for _ in 0..<20 {
            #expect(try await world.http.call("GET", "/v1/audit", bearer: SenderKeys.reader).status == 403)
        }
        try await eventually("the refused scope is audited") {
            try await rows("subject = 'key reader' AND data->>'proof' = 'scope'") == 1
        }
        #expect(try await rows("data->>'proof' = 'key'") == 0)
        #expect(try await world.metric("proofs_refused_total", "audit=\"unknown\"") >= 20)
    }
}
