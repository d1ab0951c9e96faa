import Coverage
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// docs/contracts/notificationhubs.md#7.4: one notification for many handles.
struct BatchTests {
    static let type = #"multipart/mixed; boundary="nh-batch-multipart-boundary""#
    private static let second = String(repeating: "9F", count: 32)

    /// The documented body with complete handles and the line ends of the wire.
    static func body(lineEnd: String = "\r\n") throws -> String {
        try Fixture.text("messages/batch.body.txt").replacing("0A1B…", with: Fixture.token)
            .replacing("99FF…", with: second).replacing("\n", with: lineEnd)
    }

    static func request(
        _ body: String,
        _ headers: [String: String] = [:],
        query: String = "api-version=2017-04&direct"
    ) -> VendorRequest {
        let common = ["ServiceBusNotification-Format": "apple", "Content-Type": type]
        return Mount.request(
            .post,
            "/hub1/messages/$batch",
            query: query,
            headers: common.merging(headers) { $1 },
            body
        )
    }

    private func body(_ payload: String, _ devices: String) throws -> String {
        try Self.body().replacing(#"{"aps":{"alert":"Hi"}}"#, with: payload)
            .replacing(#"["\#(Fixture.token)","\#(Self.second)"]"#, with: devices)
    }

    private func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission)) = try Mount.command(request) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    private func answer(_ request: VendorRequest) -> VendorResponse {
        let accepted = NumberedAcceptance(message: Mount.message, number: "1", targetCount: 2, keys: nil)
        return Mount.answer(request) { _ in .submission(.numbered(accepted)) }
    }

    @Test(.covers("notificationhubs", "POST /{hub}/messages/$batch"), arguments: ["\r\n", "\n"])
    func theDocumentedBatchIsForItsHandles(_ lineEnd: String) throws {
        let request = try Self.request(Self.body(lineEnd: lineEnd), ["apns-priority": "5"])
        let submission = try submission(request)
        #expect(submission.audience == .everyone)
        #expect(submission.numbering?.tokens == [Fixture.token, Self.second].compactMap { DeviceToken(apns: $0) })
        #expect(submission.content.raw == (try JSONParser.parse(#"{"aps":{"alert":"Hi"}}"#)))
        #expect(submission.content.data["priority"] == 5)
        let made = answer(request)
        #expect(made.status == 201)
        let place = "/hub1/messages/$batch/\(Mount.messageText)"
        #expect(made.header("Location") == "https://gw.example.com\(place)?api-version=2017-04&direct")
        // The status of the batch is requested at the same location.
        let asked = try Mount.command(Mount.request(.get, place))
        #expect(asked == .submission(.report(message: Mount.message)))
        #expect(Mount.answer(request) { _ in .refused(.noRecipients) }.status == 400)
    }

    /// An SDK chooses a new unquoted boundary each time; parts are in any order; a repeated handle gets one push.
    @Test func onlyTheMeaningOfTheBodyCounts() throws {
        let payload = "{\"aps\": {\"alert\":\"a\"},\r\n\r\n\"x\": \"--nh-batch-multipart-boundary\"}"
        let body = """
            a preamble\r\n--b\r\nContent-Disposition: inline; name="devices"\r\n\r\n\
            ["\(Fixture.token)", "\(Fixture.token.lowercased())"]\r\n--b\r\n\
            content-disposition: inline; name=notification\r\n\r\n\(payload)\r\n--b--\r\nbehind it
            """
        let submission = try submission(Self.request(body, ["Content-Type": "Multipart/Mixed; charset=x; boundary=b"]))
        #expect(submission.numbering?.tokens?.count == 1)
        let notification = Notification(
            message: Mount.message,
            origin: .notificationHubs,
            content: submission.content,
            sentAt: Mount.now
        )
        #expect(String(decoding: try HubsPayload(notification).encoded().bytes, as: UTF8.self) == payload)
    }

    @Test func aBatchHasAThousandHandlesAtMost() throws {
        func list(_ count: Int) -> String {
            let handles = (0..<count).map { #""\#(String(Fixture.token.dropLast(4)))\#(1000 + $0)""# }
            return "[" + handles.joined(separator: ",") + "]"
        }
        let full = try Self.request(body(#"{"aps":{"alert":"Hi"}}"#, list(1000)))
        #expect(full.body.count > HubsLimits.bodyBytes && full.body.count < HubsLimits.batchBytes)
        #expect(try submission(full).numbering?.tokens?.count == 1000)
        // Unknown handles are registered first, a hundred in one transaction.
        let devices = try Mount.adapter.decode(full, settings: Mount.settings).dropLast().map { command -> Int in
            guard case .user(.track(let batch)) = command else { return 0 }
            return batch.patches.reduce(0) { $0 + $1.devices.count }
        }
        #expect(devices == Array(repeating: 100, count: 10))
        #expect(answer(full).status == 201)
        let more = answer(try Self.request(body("{}", list(1001))))
        #expect(more.status == 400)
        #expect(more.detail == "There may be 1 to 1000 devices in a batch")
    }

    @Test func invalidBatchesAreRefused() throws {
        let good = try Self.body()
        let bodies = [
            "", "{}", good.replacing("boundary--", with: "boundary"),
            good.replacing("name=devices", with: "name=others"),
            good.replacing("name=devices", with: "name=notification"), good.replacing("; name=devices", with: ""),
            String(good.dropFirst(40)), good.replacing("\r\n\r\n", with: "\r\n"),
            good.replacing("charset=utf-8", with: String(repeating: "x", count: 2000)),
            try body("[1]", #"["\#(Fixture.token)"]"#), try body("{}", "[]"), try body("{}", "{}"),
            try body("{}", "[1]"), try body("{}", #"["\#(Fixture.token)","zz"]"#),
            try body(#"{"a":"\#(String(repeating: "x", count: 4096))"}"#, #"["\#(Fixture.token)"]"#),
        ]
        for (index, body) in bodies.enumerated() {
            #expect(answer(Self.request(body)).status == 400, "\(index)")
        }
        let long = "multipart/mixed; boundary=\(String(repeating: "b", count: 71))"
        for type in ["", "application/json", "multipart/mixed", "multipart/mixed; boundary=", long] {
            #expect(answer(Self.request(good, ["Content-Type": type])).status == 400, "\(type)")
        }
        for query in ["api-version=2017-04", "direct=false", "direct&test"] {
            #expect(answer(Self.request(good, query: query)).status == 400, "\(query)")
        }
        #expect(answer(Self.request(good, ["ServiceBusNotification-Format": "template"])).status == 400)
        #expect(answer(Self.request(good, ["ServiceBusNotification-Format": "gcm"])).status == 400)
    }

    /// A caller with only the right to register devices cannot send.
    @Test func aBatchNeedsTheRightToSend() throws {
        var request = try Self.request(Self.body())
        request.headers[.authorization] =
            Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey).header
        #expect(answer(request).status == 403)
    }
}
