import APNsSimulator
import ApplePayload
import Foundation
import HTTP2
import Model
import Testing

@testable import APNs

/// The preview of a push equals the push that is sent.
struct PushPreviewTests {
    @Test func previewShowsTheHeadersThatThePeerSees() async throws {
        let peer = try await Peer()
        let payload = PushPayload(bytes: Array(#"{"aps":{}}"#.utf8), type: .voip, priority: 5, collapseID: "match-7")
        let pushes = [
            makePush(0), makePush(1, payload: payload), makePush(2, expiresAt: Timestamp(seconds: 4_000_000_000)),
        ]
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            #expect(await sendUntilLeft(pushes, transport).acceptedCount == pushes.count)
        }
        let seen = peer.simulator.control.requests()
        for push in pushes {
            let preview = PushPreview(push, authority: peer.addresses.apns)
            #expect(preview.fault == nil)
            let request = try #require(seen.first { $0.token == push.token.text })
            #expect(preview.body == request.payload)
            #expect(preview.fields.prefix(2).map(\.value) == ["POST", "https"])
            #expect(preview.fields[3].value == "/3/device/" + push.token.text)
            for field in preview.fields where field.name.hasPrefix("apns-") {
                #expect(request.header(field.name) == field.value, "\(field.name)")
            }
            let names = Set(preview.fields.map(\.name).filter { $0.hasPrefix("apns-") })
            for name in [
                "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
            ] {
                #expect(names.contains(name) == (request.header(name) != nil), "\(name)")
            }
        }
        await peer.simulator.stop()
    }

    // "voip: expiration 0 or a few seconds" (docs/contracts/apns.md#6): an old call must not ring.
    @Test func callWithoutAnExpirationIsNotStored() {
        let call = PushPreview(makePush(0, payload: PushPayload(bytes: [0x7B, 0x7D], type: .voip)), authority: "a")
        #expect(call.fields.first { $0.name == "apns-expiration" }?.value == "0")
        let alert = PushPreview(makePush(0), authority: "a")
        #expect(alert.fields.contains { $0.name == "apns-expiration" } == false)
    }

    @Test func previewReportsFaults() {
        let bad = PushPreview(makePush(0, payload: PushPayload(bytes: Array("{".utf8))), authority: "a")
        #expect(bad.fault?.field == "payload")
        #expect(PushPreview(makePush(0, topic: ""), authority: "a").fault?.field == "apns-topic")
        #expect(bad.fields.contains { $0.name == "authorization" } == false)
    }
}
