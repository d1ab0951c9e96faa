import Adapters
import CommandSupport
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Explain
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// The explanation of a delivery's state: over HTTP, and as `message show --device` prints it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeExplainTests {
    private static let token = String(repeating: "ab", count: 32)

    /// The only target of a message, as stored in the queue.
    private func target(_ stage: NativeStage, of message: String) async throws -> String {
        let row = try await stage.database.engine.run(
            Statement(
                "SELECT u.t::text AS t FROM gateway.slice s, unnest(s.targets) AS u(t) WHERE s.message_id = $1",
                [.uuid(UUID(uuidString: message))]
            ),
            tenant: nil
        ).only()
        return try row.text("t")
    }

    private func explained(
        _ stage: NativeStage,
        _ message: String,
        _ target: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await stage.native(.GET, "/v1/messages/\(message)/deliveries/\(target)", as: stage.key)
        try #require(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        // I7: the token nowhere, only its ends.
        #expect(!answer.text.contains(Self.token), sourceLocation: sourceLocation)
        return try #require(answer.json, sourceLocation: sourceLocation)
    }

    /// Claims the due slice and settles its first target, or returns it to wait for a credential.
    private func settle(_ stage: NativeStage, _ state: DeliveryState, reason: String?) async throws {
        let store = PostgresDeliveryStore(engine: stage.database.engine)
        let lease = try #require(
            try await store.claim(
                tenant: NativeStage.tenant,
                lane: .transactional,
                limit: 1,
                by: "n",
                lease: .seconds(60)
            )
            .first
        )
        var done = lease
        done.markDone(0)
        let result = DeliveryResult(
            index: 0,
            target: lease.targets[0],
            identity: IdentityID(lease.targets[0].rawValue),
            address: lease.addresses.first ?? nil,
            state: state,
            reason: reason,
            attempt: DeliveryAttempt(count: 2, transport: "apns", transportID: UUID(), payloadBytes: 123),
            at: try await store.heartbeat("n")
        )
        let progress = SliceProgress(
            lease: done,
            app: "shop",
            vendor: .native,
            results: [result],
            disposition: .finished
        )
        _ = try await store.record(progress, by: "n")
    }

    @Test func aQueuedDeliverySaysWhatItWaitsForAndWhatWouldBeSent() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("k", token: Self.token)
            let message = try await stage.send(to: "k", body: "look")
            let target = try await target(stage, of: message)
            let queued = try await explained(stage, message, target)
            let why = try #require(queued["explanation"])
            #expect(queued["state"]?.string == "queued")
            #expect(why["standing"]?.string?.hasPrefix("It is queued; its next try is at 20") == true)
            #expect(why["queue"]?["state"]?.string == "ready" && why["queue"]?["slice"]?.int == 0)
            #expect(why["device"]?["id"]?.string == device && why["device"]?["token"]?.string == "abab…abab")
            #expect(why["device"]?["environment"]?.string == "production")
            #expect(
                why["route"]?["topic"]?.string == "com.example.shop" && why["route"]?["credential"]?.string == "apple"
            )
            let headers = why["push"]?["headers"]
            #expect(
                headers?[":path"]?.string == "/3/device/abab…abab"
                    && headers?["apns-topic"]?.string == "com.example.shop"
            )
            #expect(headers?["authorization"] == nil)
            #expect(why["push"]?["payload"]?["aps"]?["alert"]?["body"]?.string == "look")
            #expect((why["push"]?["bytes"]?.int ?? 0) > 40 && why["push"]?["refused"] == .null)
            #expect(why["recomputed"]?.array?.contains("push") == true)
            #expect(why["rules"] == .null)
            let rules: JSON = ["deliveries": [["lane": "background", "paths": ["apns"]], ["paths": ["apns"]]]]
            let put = try await stage.native(.PUT, "/v1/apps/shop/routes", rules, ifMatch: "\"0\"")
            try #require(put.status == 200, "\(put.text)")
            let ruled = try await explained(stage, message, target)["explanation"]?["rules"]
            #expect(ruled == ["version": 1, "rule": 1, "bucket": .null, "paths": ["apns"]])

            // Held by a credential that APNs refused.
            let engine = PostgresDeliveryStore(engine: stage.database.engine)
            let rejection = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
            let key = CredentialKey(tenant: NativeStage.tenant, credential: "apple")
            try await engine.noteCredential(key, refusal: rejection)
            _ = try await stage.database.engine.run(
                Statement(
                    "UPDATE gateway.slice SET held_by = 'apple', attempts = 1, next_at = now() + interval '5 minutes' WHERE tenant_id = $1",
                    [.text("own")]
                ),
                tenant: nil
            )
            let held = try await explained(stage, message, target)["explanation"]
            let text = held?["standing"]?.string ?? ""
            #expect(
                text.hasPrefix("It waits for the credential apple, which was refused with InvalidProviderToken"),
                "\(text)"
            )
            #expect(
                held?["route"]?["refusal"]?.string == "InvalidProviderToken"
                    && held?["queue"]?["heldBy"]?.string == "apple"
            )
        }
    }

    @Test func aSettledDeliverySaysWhyAndWhatToDo() async throws {
        try await NativeStage.on { stage in
            try await stage.register("k", token: Self.token)
            let failed = try await stage.send(to: "k")
            let target = try await target(stage, of: failed)
            try await settle(stage, .failed, reason: "BadDeviceToken")
            let why = try await explained(stage, failed, target)
            #expect(why["state"]?.string == "failed" && why["attempts"]?.int == 2 && why["payloadBytes"]?.int == 123)
            #expect(why["explanation"]?["meaning"]?.string?.contains("other environment") == true)
            #expect(why["explanation"]?["advice"]?.string?.contains("registers again") == true)
            #expect(why["explanation"]?["queue"] == .null)
            // The id that APNs knows it by is the one that was sent.
            let header = why["explanation"]?["push"]?["headers"]?["apns-id"]
            #expect(header == why["transportId"] && header != nil)

            let sent = try await stage.send(to: "k")
            let second = try await self.target(stage, of: sent)
            try await settle(stage, .sent, reason: nil)
            let receipt: JSON = ["message": .string(sent), "key": "k", "kind": "read"]
            #expect(try await stage.native(.POST, "/v1/apps/shop/receipts", receipt).status == 200)
            let read = try await explained(stage, sent, second)
            #expect(read["explanation"]?["standing"]?.string == "The user has opened it.")
            #expect(read["readAt"]?.string != nil && read["receivedAt"]?.string != nil)

            // An address that nobody answers to has its reason too.
            let nobody = try await stage.send(to: "nobody")
            let page = try await stage.native(.GET, "/v1/messages/\(nobody)/deliveries")
            let lost = try #require(page.json?["deliveries"]?.array?.first?["target"]?.string)
            let lostWhy = try await explained(stage, nobody, lost)["explanation"]
            #expect(lostWhy?["meaning"]?.string?.hasPrefix("No active identity") == true && lostWhy?["device"] == .null)

            #expect(try await stage.native(.GET, "/v1/messages/\(failed)/deliveries/\(UUID())").status == 404)
            // I6
            let foreign = try await stage.native(
                .GET,
                "/v1/messages/\(failed)/deliveries/\(target)",
                as: stage.otherKey
            )
            #expect(foreign.status == 404)
        }
    }

    @Test func aDeviceIsFoundByItsIdAndByItsVendorsKey() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("k", token: Self.token)
            try await stage.register("other", token: "aa01")
            let waiting = try await stage.send(to: "k")
            let target = try await target(stage, of: waiting)
            let queries = PostgresQueryStore(call: stage.database.call)
            let facts = try #require(try await queries.message(waiting, in: NativeStage.tenant))
            func targets(_ device: String) async throws -> [String] {
                try await queries.targets(of: facts, device: device, in: NativeStage.tenant).map(\.description)
            }
            for name in [device, "k"] { #expect(try await targets(name) == [target]) }
            for name in ["other", "nobody"] { #expect(try await targets(name).isEmpty) }
            try await settle(stage, .sent, reason: nil)
            for name in [device, "k"] { #expect(try await targets(name) == [target]) }

            let explainer = DeliveryExplainer(
                queries: queries,
                directory: PostgresDirectory(call: stage.database.call, engine: stage.database.engine),
                adapters: VendorCatalog.product.byVendor,
                identifiers: SystemIdentifiers()
            )
            let id = try #require(TargetID(text: target))
            let text = try #require(try await explainer.explain(facts, to: id, in: NativeStage.tenant)).text
            for part in ["state", "sent", "The push service has accepted it", "apns-topic", "abab…abab", "123 bytes"] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
            #expect(!text.contains(Self.token))
        }
    }
}
