import ApplePayload
import Foundation
import Model
import Testing

@testable import APNs

/// Broadcasts and channel calls in their wire form, and the meaning of their answers. Source:
/// docs/contracts/apns.md#1, docs/contracts/apns.md#12.
struct ChannelTests {
    private let id = UUID(uuidString: "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D") ?? UUID()

    private func channel(_ text: String = "dHN0LXNyY2gtY2hubA==") throws -> ChannelID { try #require(ChannelID(text)) }

    private func fields(_ call: ChannelCall) -> [String] { call.fields.map { "\($0.0): \($0.1)" } }

    private func fault(_ broadcast: Broadcast) -> PushFault? {
        var encoder = PayloadEncoder()
        do throws(PushFault) {
            _ = try broadcast.call(with: &encoder)
            return nil
        } catch {
            return error
        }
    }

    @Test func hostsAndPortsAreApples() {
        let production = ChannelHosts(.production)
        #expect(production.manage.description == "https://api-manage-broadcast.push.apple.com:2196")
        #expect(production.send.description == "https://api.push.apple.com")
        let sandbox = ChannelHosts(.sandbox)
        #expect(sandbox.manage.description == "https://api-manage-broadcast.sandbox.push.apple.com:2195")
        #expect(sandbox.send.description == "https://api.sandbox.push.apple.com")
    }

    // MARK: Requests

    @Test func createNamesTheStoragePolicy() throws {
        let call = try ChannelRequest(bundleID: "com.example.shop", .create(.newest), requestID: id).call()
        #expect(call.method == "POST")
        #expect(call.path == "/1/apps/com.example.shop/channels")
        #expect(fields(call) == ["apns-request-id: ec1bf194-b3b2-424a-89a9-5a918a6e6b5d"])
        #expect(
            String(decoding: call.body, as: UTF8.self) == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        let none = try ChannelRequest(bundleID: "com.example.shop", .create(.none)).call()
        #expect(
            String(decoding: none.body, as: UTF8.self) == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        )
        #expect(none.fields.isEmpty)
    }

    @Test func readDeleteAndListHaveNoBody() throws {
        let read = try ChannelRequest(bundleID: "com.example.shop", .read(channel())).call()
        #expect((read.method, read.path) == ("GET", "/1/apps/com.example.shop/channels"))
        #expect(fields(read) == ["apns-channel-id: dHN0LXNyY2gtY2hubA=="])
        let delete = try ChannelRequest(bundleID: "com.example.shop", .delete(channel())).call()
        #expect((delete.method, delete.path) == ("DELETE", "/1/apps/com.example.shop/channels"))
        #expect(fields(delete) == ["apns-channel-id: dHN0LXNyY2gtY2hubA=="])
        let list = try ChannelRequest(bundleID: "com.example.shop", .list).call()
        #expect((list.method, list.path) == ("GET", "/1/apps/com.example.shop/all-channels"))
        #expect(list.fields.isEmpty)
        for call in [read, delete, list] { #expect(call.body.isEmpty) }
    }

    @Test(arguments: ["", "a/b", "a b", "a?b", "a\r\nb", "a%2e", String(repeating: "a", count: 257)])
    func bundleIDThatWouldChangeThePathIsRefused(bundleID: String) throws {
        #expect(throws: PushFault.self) { try ChannelRequest(bundleID: bundleID, .list).call() }
        #expect(fault(Broadcast(bundleID: bundleID, channel: try channel(), activity: update))?.field == ":path")
    }

    @Test func channelIDIsBase64() {
        for text in ["", "a b", "a\r\nx: y", "é", "{}", String(repeating: "a", count: 257)] {
            #expect(ChannelID(text) == nil)
        }
        #expect(ChannelID("ab+/=-_09Z")?.text == "ab+/=-_09Z")
    }

    // MARK: Broadcasts

    private var update: LiveActivity {
        LiveActivity(
            .update,
            timestamp: Timestamp(seconds: 1_790_000_000),
            contentState: JSONObject([("home", JSON.int(2))])
        )
    }

    @Test func broadcastHasNoTopicAndNoCollapseID() throws {
        var encoder = PayloadEncoder()
        let broadcast = Broadcast(
            bundleID: "com.example.shop",
            channel: try channel(),
            activity: update,
            priority: 5,
            expiresAt: Timestamp(seconds: 1_790_003_600),
            requestID: id
        )
        let call = try broadcast.call(with: &encoder)
        #expect((call.method, call.path) == ("POST", "/4/broadcasts/apps/com.example.shop"))
        #expect(
            Set(fields(call)) == [
                "apns-channel-id: dHN0LXNyY2gtY2hubA==", "apns-push-type: liveactivity", "apns-priority: 5",
                "apns-expiration: 1790003600", "apns-request-id: ec1bf194-b3b2-424a-89a9-5a918a6e6b5d",
            ]
        )
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"home":2}}}"#
        )
    }

    // "0 = nothing stored (apns-expiration must be 0)"
    @Test func broadcastIsStoredOnlyOnRequest() throws {
        var encoder = PayloadEncoder()
        let call = try Broadcast(bundleID: "a.b", channel: channel(), activity: update).call(with: &encoder)
        #expect(fields(call).contains("apns-expiration: 0"))
        #expect(fields(call).contains("apns-priority: 10"))
    }

    // "Broadcast can only update or end, never start."
    @Test func broadcastNeverStarts() throws {
        let start = LiveActivity(
            .start(.init(attributesType: "T", attributes: JSONObject())),
            timestamp: Timestamp(seconds: 1),
            contentState: JSONObject(),
            alert: .init(title: "t", body: "b")
        )
        #expect(
            fault(Broadcast(bundleID: "a.b", channel: try channel(), activity: start))
                == PushFault("aps.event", .notAllowed("to start in a broadcast"))
        )
        let end = LiveActivity(.end(), timestamp: Timestamp(seconds: 1))
        #expect(fault(Broadcast(bundleID: "a.b", channel: try channel(), activity: end)) == nil)
        #expect(
            fault(Broadcast(bundleID: "a.b", channel: try channel(), activity: end, priority: 7))?.reason
                == .badPriority
        )
    }

    // "5120 for broadcast"
    @Test func broadcastMayHave5120Bytes() throws {
        func broadcast(_ count: Int) throws -> Broadcast {
            var activity = update
            activity.contentState = JSONObject([("x", JSON.string(String(repeating: "y", count: count)))])
            return Broadcast(bundleID: "a.b", channel: try channel(), activity: activity)
        }
        var encoder = PayloadEncoder()
        let frame = try broadcast(0).call(with: &encoder).body.count
        #expect(try broadcast(5120 - frame).call(with: &encoder).body.count == 5120)
        #expect(fault(try broadcast(5121 - frame)) == PushFault("payload", .tooLong(limit: 5120), .payloadTooLarge))
    }

    // MARK: Answers

    private func answer(
        _ operation: ChannelRequest.Operation,
        _ status: Int,
        _ body: String = "",
        channelID: String? = nil,
        isCut: Bool = false
    ) -> ChannelAnswer.Result {
        ChannelAnswer(
            to: ChannelRequest(bundleID: "a.b", operation),
            status: status,
            body: Array(body.utf8)[...],
            isCut: isCut,
            channelID: channelID
        ).result
    }

    @Test func eachOperationHasItsSuccess() throws {
        let one = try channel()
        let two = try channel("AAA=")
        #expect(answer(.create(.none), 201, channelID: one.text) == .created(one))
        #expect(
            answer(.read(one), 200, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
                == .channel(.newest, pushType: "LiveActivity")
        )
        #expect(
            answer(.read(one), 200, #"{"message-storage-policy":9,"new":[]}"#) == .channel(.unknown(9), pushType: "")
        )
        #expect(answer(.delete(one), 204) == .deleted)
        #expect(answer(.list, 200, #"{"channels":["dHN0LXNyY2gtY2hubA==","AAA="]}"#) == .channels([one, two]))
        #expect(answer(.list, 200, #"{"channels":[]}"#) == .channels([]))
    }

    @Test func unreadableSuccessIsAnError() throws {
        let one = try channel()
        #expect(answer(.create(.none), 201) == .unreadable(status: 201))
        #expect(answer(.create(.none), 201, channelID: "a b") == .unreadable(status: 201))
        #expect(answer(.read(one), 200) == .unreadable(status: 200))
        #expect(answer(.list, 200, #"{"channels":["AAA=",7]}"#) == .unreadable(status: 200))
        #expect(answer(.list, 200, #"{"channels":["AAA="]}"#, isCut: true) == .unreadable(status: 200))
        let many = "[" + Array(repeating: #""AAA=""#, count: 10_001).joined(separator: ",") + "]"
        #expect(answer(.list, 200, #"{"channels":\#(many)}"#) == .unreadable(status: 200))
    }

    @Test func refusalKeepsItsReasonAndItsMeaning() throws {
        let one = try channel()
        let gone = ChannelRefusal(reason: .channelNotRegistered, status: 400)
        #expect(answer(.read(one), 400, #"{"reason":"ChannelNotRegistered"}"#) == .refused(gone))
        #expect(gone.retry == .never)
        #expect(ChannelRefusal(reason: .cannotCreateChannelConfig, status: 400).retry == .whenMended)
        #expect(ChannelRefusal(reason: .featureNotEnabled, status: 400).retry == .whenMended)
        #expect(ChannelRefusal(reason: .serviceUnavailable, status: 503).retry == .later)
        #expect(ChannelRefusal(reason: .expiredProviderToken, status: 403).remedy == .renewTokenAndResend)
        for (status, retry) in [
            (400, ReasonRule.Retry.never), (403, .whenMended), (404, .never), (429, .later), (500, .later),
            (302, .later),
        ] {
            #expect(ChannelRefusal(reason: .unknown("New"), status: status).retry == retry)
        }
    }

    @Test func broadcastIsAcceptedOrRejected() {
        #expect(
            BroadcastAnswer(status: 200, body: [], requestID: "AB-1", uniqueID: "log")
                == .accepted(requestID: "ab-1", logKey: "log")
        )
        let body = Array(#"{"reason":"BadExpirationDate"}"#.utf8)[...]
        #expect(
            BroadcastAnswer(status: 400, body: body)
                == .refused(ChannelRefusal(reason: .badExpirationDate, status: 400))
        )
        #expect(
            BroadcastAnswer(status: 429, body: Array(#"{"reason":"TooManyRequests"}"#.utf8)[...], retryAfter: "5")
                == .refused(ChannelRefusal(reason: .tooManyRequests, status: 429, retryAfter: .seconds(5)))
        )
    }
}
