import Crypto
import Foundation
import Model
import NIOConcurrencyHelpers
import NIOHTTP1
import Outgoing
import TestKit
import Testing

@testable import Webhooks

/// Webhooks: events that are delivered to an address of the tenant.
@Suite(.timeLimit(.minutes(10))) struct SubscriptionTests {
    // RFC 2104, implemented independently, as any receiver could.
    private func hmac(_ message: [UInt8], key: [UInt8]) -> String {
        func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
        let short = key.count > 64 ? sha256(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return HexCoding.encode(sha256(block.map { $0 ^ 0x5C } + sha256(block.map { $0 ^ 0x36 } + message)))
    }

    // docs/webhooks.md, "Signature": the example of the page, computed from its secret, time and body.
    @Test func theDocumentedExampleMatchesTheSentCall() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/webhooks.md"), encoding: .utf8)
        let secret = try #require(page.firstMatch(of: /with the secret `(whsec_[0-9a-f]+)`/)).1
        let body = try #require(page.firstMatch(of: /```json\n(.+)\n```/)).1
        let header = try #require(
            page.firstMatch(of: /X-Gateway-Signature: (t=([0-9]+),kid=([a-z0-9_]+),v1=[0-9a-f]{64})/)
        )
        let seconds = try #require(Int64(header.2))
        let bytes = Array(body.utf8)
        let key = Array(secret.utf8)
        let made = Signature.of(
            bytes,
            at: Timestamp(seconds: seconds),
            keys: [.init(id: String(header.3), secret: key)]
        )
        #expect(made == header.1)
        #expect(made.hasSuffix(",v1=" + hmac(Array("\(seconds).".utf8) + bytes, key: key)))
    }

    @Test func anUnreliableReceiverGetsEveryEventInOrder() async throws {
        let stage = WebhookStage()
        let receiver = try await Receiver.start(answers: [.status(500), .silence, .status(302)])
        let port = receiver.port
        stage.subscribe("http://127.0.0.1:\(port)/hook")
        let guardian = AddressGuard(allowing: [AddressRange("127.0.0.0/8")].compactMap(\.self))
        let caller = HTTPWebhookCaller(timeout: .seconds(5), addressGuard: guardian)
        let again = NIOLockedValueBox<Receiver?>(nil)
        stage.register(3)
        try await stage.run(caller) {
            for (count, wait) in [(1, 5), (2, 30), (3, 120)] {
                await stage.events.wait(for: .postponed, count)
                stage.register(1)
                if count == 3 { await receiver.stop() }
                await stage.pass(.seconds(wait))
            }
            await stage.events.wait(for: .postponed, 4)
            let restarted = try await Receiver.start(port: port)
            again.withLockedValue { $0 = restarted }
            await stage.pass(.seconds(600))
            await stage.events.wait(for: .accepted, 1)
            stage.register(2)
            await stage.pass(.seconds(1))
            await stage.events.wait(for: .accepted, 2)
        }
        let last = try #require(again.withLockedValue { $0 })
        #expect(receiver.requests.map { stage.offsets($0.body) } == [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]])
        #expect(last.requests.map { stage.offsets($0.body) } == [[1, 2, 3, 4, 5, 6], [7, 8]])
        for request in receiver.requests + last.requests {
            let header = try #require(request.headers.first(name: "X-Gateway-Signature"))
            let parts = try #require(header.firstMatch(of: /^t=([0-9]+),kid=whk_1,v1=([0-9a-f]+)$/))
            #expect(String(parts.2) == hmac(Array("\(parts.1).".utf8) + request.body, key: stage.secret))
            #expect(request.headers.first(name: "Content-Type") == "application/json")
            #expect(request.uri == "/hook")
            #expect(try JSONParser.parse(request.body)["generation"] == "g-1")
        }
        // Each attempt is signed with its own time.
        #expect(Set(receiver.requests.compactMap { $0.headers.first(name: "X-Gateway-Signature") }).count == 3)
        await last.stop()
    }

    /// A kill between the receiver's answer and its recording: the lease lapses, and the same events are delivered
    /// again without a gap.
    @Test func aKillBeforeTheCursorMovesRepeatsAndSkipsNothing() async throws {
        let stage = WebhookStage()
        stage.subscribe("https://a.example/")
        stage.register(2)
        let caller = ScriptedCaller()
        try await stage.run(caller, store: DyingStore(stage.store)) {
            await stage.events.wait(for: .storeFailed, 1)
        }
        stage.register(1)
        // The lease lasts until then, for any node.
        stage.clock.advance(by: WebhookPolicy().lease)
        try await stage.run(caller) { await stage.events.wait(for: .accepted, 1) }
        #expect(caller.calls.map { stage.offsets($0.body) } == [[1, 2], [1, 2, 3]])
        #expect(stage.store.standing()?.cursor == 3)
    }

    @Test func aReplayDeliversAgain() async throws {
        let stage = WebhookStage()
        stage.subscribe("https://a.example/")
        stage.register(3)
        let caller = ScriptedCaller()
        try await stage.run(caller) {
            await stage.events.wait(for: .accepted, 1)
            stage.store.change { $0.lease.cursor = 1 }
            await stage.pass(.seconds(1))
            await stage.events.wait(for: .accepted, 2)
        }
        #expect(caller.calls.map { stage.offsets($0.body) } == [[1, 2, 3], [2, 3]])
    }

    @Test func afterThreeDaysAWebhookStopsAndCanBeResumed() async throws {
        let stage = WebhookStage()
        stage.subscribe("https://a.example/")
        stage.register(1)
        let caller = ScriptedCaller()
        caller.script("https://a.example/", .refused(status: 503), .failed("timeout"))
        try await stage.run(caller) {
            await stage.events.wait(for: .postponed, 1)
            await stage.pass(.seconds(72 * 3600))
            await stage.events.wait(for: .stopped, 1)
            let stopped = stage.store.standing()
            #expect(stopped?.isActive == false && stopped?.failure == "timeout" && stopped?.cursor == 0)
            stage.register(1)
            stage.store.change { $0.isActive = true }
            await stage.pass(.seconds(1))
            await stage.events.wait(for: .accepted, 1)
        }
        #expect(caller.calls.map { stage.offsets($0.body) } == [[1], [1], [1, 2]])
    }

    @Test func aLongBatchIsDeliveredInSeveralCallsCompletely() async throws {
        let stage = WebhookStage()
        stage.subscribe("https://a.example/")
        stage.register(9)
        let caller = ScriptedCaller()
        // 1000 bytes: a few events per call. 1 byte: one event per call, because every call has at least one event.
        for (limit, calls) in [(1000, 2...8), (1, 9...9)] {
            let before = caller.calls.count
            stage.store.change { $0.lease.cursor = 0 }
            let delivered = stage.events.delivered.value
            try await stage.run(caller, policy: WebhookPolicy(bodyLimitBytes: limit)) {
                await stage.events.delivered.reaches(delivered + 9)
            }
            let made = caller.calls.dropFirst(before)
            #expect(made.flatMap { stage.offsets($0.body) } == Array(1...9))
            #expect(calls.contains(made.count))
            if limit > 1 { #expect(made.allSatisfy { $0.body.count <= limit }) }
        }
    }

    @Test func aSecretOfAnotherMasterKeyDoesNotStopTheDispatcher() async throws {
        let stage = WebhookStage()
        stage.subscribe("https://a.example/")
        stage.register(1)
        let caller = ScriptedCaller()
        try await stage.run(caller, opens: false) { await stage.events.wait(for: .postponed, 1) }
        #expect(caller.calls.isEmpty)
        let standing = stage.store.standing()
        #expect(standing?.isActive == true && standing?.failure == "sealed secret" && standing?.cursor == 0)
    }
}

/// A store whose node dies when it records the first accepted call.
private struct DyingStore: WebhookStore {
    let store: ScriptedWebhookStore

    init(_ store: ScriptedWebhookStore) { self.store = store }

    func claim(
        limit: Int,
        by node: NodeID,
        lease: Duration,
        choosing choose: @Sendable ([DueSubscription]) -> [Int]
    ) async throws(StoreError) -> [WebhookLease] {
        try await store.claim(limit: limit, by: node, lease: lease, choosing: choose)
    }

    func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch {
        try await store.batch(for: lease, limit: limit)
    }

    func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID) async throws(StoreError) -> Bool {
        throw StoreError(.unavailable, "killed")
    }

    func postpone(
        _ lease: WebhookLease,
        at cursor: Int64,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError) {}

    func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError) {}
}
