import Foundation
import Testing

@testable import APNsSimulator

/// Broadcasts and channel management (docs/contracts/apns.md#12), rows 40 to 55.
@Suite struct ChannelRulesTests {
    private static let app = "com.example.shop"
    private static let requestID = "123e4567-e89b-12d3-a456-426614174000"
    private let bench: RuleBench
    private let state: SimulatorState

    init() throws {
        bench = try RuleBench()
        state = SimulatorState(SimulatorConfiguration())
    }

    // MARK: Channels

    @Test(arguments: [0, 1])
    func aChannelIsCreatedReadListedAndDeleted(policy: Int) throws {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        let made = call("POST", body: body, ["apns-request-id": Self.requestID])
        #expect(made.refusal == nil)
        #expect(made.reply.status == 201)
        #expect(made.apnsID == Self.requestID)
        #expect(made.isRequestID)
        #expect(!made.isPush)
        let id = try #require(made.reply.channelID)
        #expect(Data(base64Encoded: id) != nil)
        #expect(call("GET", ["apns-channel-id": id]).reply.body == body)
        #expect(call("GET", path: "all-channels").reply.body == #"{"channels":["\#(id)"]}"#)
        #expect(call("DELETE", ["apns-channel-id": id]).reply.status == 204)
        #expect(call("GET", path: "all-channels").reply.body == #"{"channels":[]}"#)
        expect(call("GET", ["apns-channel-id": id]), .channelNotRegistered, row: 46)
        // Observed: deleting a deleted channel is a bad path.
        expect(call("DELETE", ["apns-channel-id": id]), .badPath, row: 46)
    }

    @Test(arguments: [
        ("", Reason.payloadEmpty, 25), (String(repeating: " ", count: 5121), .payloadTooLarge, 26),
        ("no json", .badRequestPayload, 50), ("[]", .badRequestPayload, 50),
        (#"{"message-storage-policy":1}"#, .missingPushType, 50),
        (#"{"message-storage-policy":1,"push-type":"alert"}"#, .invalidPushType, 50),
        (#"{"push-type":"LiveActivity"}"#, .missingChannelQueueSize, 50),
        (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .missingChannelQueueSize, 50),
    ])
    func aBadChannelIsNotCreated(body: String, reason: Reason, row: Int) {
        expect(call("POST", body: body), reason, row: row)
    }

    @Test func anAppHasTenThousandChannelsAtMost() {
        let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        for _ in 0..<ChannelBook.largestCountPerApp {
            _ = state.facts(connection: 0, stream: 0).channels.create(Self.app, true)
        }
        expect(call("POST", body: body), .cannotCreateChannelConfig, row: 54)
    }

    @Test(arguments: [
        ("POST", "all-channels", Reason.methodNotAllowed, 6), ("PUT", "channels", .methodNotAllowed, 6),
        ("GET", "channels/x", .badPath, 7), ("GET", "", .badPath, 7),
    ])
    func otherCallsAreRefused(method: String, path: String, reason: Reason, row: Int) {
        expect(call(method, path: path), reason, row: row)
    }

    @Test func aChannelCallNeedsItsHeader() {
        expect(call("GET"), .missingChannelID, row: 44)
        expect(call("GET", ["apns-channel-id": "%%%"]), .badChannelID, row: 45)
        expect(call("GET", ["apns-channel-id": "AAAA"]), .channelNotRegistered, row: 46)
        expect(call("GET", ["apns-request-id": "7"]), .badMessageID, row: 8)
        expect(call("GET", ["authorization": nil]), .missingProviderToken, row: 9)
    }

    @Test func theFeatureAndTheBundleAreChecked() throws {
        var settings = RuleBook.Settings(keys: try KeyRegistry([bench.key.registered(topics: [Self.app])]))
        settings.broadcastApps = [Self.app]
        let book = RuleBook(settings)
        expect(call("GET", app: "com.example.other", path: "all-channels", book: book), .featureNotEnabled, row: 40)
        #expect(call("GET", path: "all-channels", book: book).refusal == nil)
        expect(call("GET", app: Self.app + ".voip", path: "all-channels", book: book), .topicDisallowed, row: 41)
        settings.broadcastApps = nil
        let open = RuleBook(settings)
        expect(call("GET", app: "com.example.other", path: "all-channels", book: open), .topicMismatch, row: 42)
    }

    // MARK: Broadcasts

    @Test func aBroadcastIsAccepted() throws {
        let verdict = broadcast(try channel(), ["apns-request-id": Self.requestID])
        #expect(verdict.refusal == nil)
        #expect(verdict.findings.isEmpty)
        #expect(verdict.apnsID == Self.requestID)
        #expect(verdict.isPush)
    }

    /// Apple's own samples capitalize it.
    @Test func thePushTypeIsCaseInsensitive() throws {
        #expect(broadcast(try channel(), ["apns-push-type": "Liveactivity"]).refusal == nil)
    }

    @Test(
        arguments: [
            (["apns-push-type": nil], Reason.missingPushType, 43), (["apns-push-type": "alert"], .invalidPushType, 43),
            (["apns-channel-id": nil], .missingChannelID, 44), (["apns-channel-id": "*"], .badChannelID, 45),
            (["apns-channel-id": "AAAA"], .channelNotRegistered, 46), (["apns-priority": "7"], .badPriority, 47),
            (["apns-expiration": "soon"], .badExpirationDate, 48), (["apns-request-id": "7"], .badMessageID, 8),
        ] as [([String: String?], Reason, Int)]
    )
    func aBadBroadcastIsRefused(changes: [String: String?], reason: Reason, row: Int) throws {
        expect(broadcast(try channel(), changes), reason, row: row)
    }

    /// Source: Apple, "Sending broadcast push notification requests to APNs": the expiration is 0 if nothing is
    /// stored.
    @Test func aChannelWithoutStorageAllowsNoExpiration() throws {
        let id = try channel(stores: false)
        expect(broadcast(id, ["apns-expiration": "1900000000"]), .badExpirationDate, row: 48)
        #expect(broadcast(id, ["apns-expiration": "0"]).refusal == nil)
    }

    @Test func aBroadcastHasFiveKibibytesAndCannotStart() throws {
        let id = try channel()
        expect(broadcast(id, bodyBytes: 5121), .payloadTooLarge, row: 26)
        #expect(broadcast(id, bodyBytes: 5120).refusal == nil)
        expect(broadcast(id, body: ""), .payloadEmpty, row: 25)
        let start =
            #"{"aps":{"event":"start","timestamp":1,"content-state":{},"attributes-type":"A","attributes":{},"alert":"x"}}"#
        #expect(broadcast(id, body: start).findings == ["a broadcast cannot start a live activity"])
    }

    @Test func strayHeadersAreFindings() throws {
        let verdict = broadcast(try channel(), ["apns-topic": Self.app, "apns-collapse-id": "a"])
        #expect(verdict.findings == ["a broadcast with apns-topic", "a broadcast with apns-collapse-id"])
    }

    // MARK: Helpers

    private func channel(stores: Bool = true) throws -> String {
        try #require(state.facts(connection: 0, stream: 0).channels.create(Self.app, stores)).id
    }

    private func call(
        _ method: String,
        app: String = app,
        path: String = "channels",
        body: String = "",
        _ changes: [String: String?] = [:],
        book: RuleBook? = nil
    ) -> RuleBook.Verdict {
        let headers: [String: String?] = [":path": "/1/apps/\(app)/\(path)", ":method": method]
        return judge(headers.merging(changes) { _, new in new }, body, body.utf8.count, .manage, book ?? bench.book)
    }

    private func broadcast(
        _ id: String,
        _ changes: [String: String?] = [:],
        body: String = #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#,
        bodyBytes: Int? = nil
    ) -> RuleBook.Verdict {
        let headers: [String: String?] = [
            ":path": "/4/broadcasts/apps/\(Self.app)", ":method": "POST", "apns-channel-id": id,
            "apns-push-type": "liveactivity", "apns-expiration": "0",
        ]
        let all = headers.merging(changes) { _, new in new }
        return judge(all, body, bodyBytes ?? body.utf8.count, .send, bench.book)
    }

    private func judge(
        _ headers: [String: String?],
        _ body: String,
        _ bodyBytes: Int,
        _ listener: ListenerKind,
        _ book: RuleBook
    ) -> RuleBook.Verdict {
        var request = PushRequest(body: Array(body.utf8), bodyBytes: bodyBytes)
        if headers["authorization"] == nil { request.receive(name: "authorization", value: bench.authorization) }
        for (name, value) in headers { if let value { request.receive(name: name, value: value) } }
        var connection = ConnectionState(listener: listener)
        return book.judge(
            request,
            on: &connection,
            facts: state.facts(connection: 1, stream: 1),
            now: TestKey.now
        )
    }

    private func expect(
        _ verdict: RuleBook.Verdict,
        _ reason: Reason,
        row: Int,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(verdict.refusal == RuleRefusal(reason), sourceLocation: location)
        #expect(verdict.row == row, sourceLocation: location)
    }
}
