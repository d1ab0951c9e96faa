import Foundation
import Model
import Testing

@testable import Gateway

/// Sends of real dialects that the vendor accepts, and whose payload the gateway would shorten or could not write (docs/routing.md#parity).
@Suite(.timeLimit(.minutes(5))) struct PayloadTrialTests {
    /// A dialect, and a send with a text of that many quotation marks, each of which takes two bytes of a payload.
    struct Send: Sendable, CustomTestStringConvertible {
        var vendor: Vendor
        var settings: JSONObject
        /// More than fits into 4,096 bytes; the dialect's calls may be longer.
        var long: Int
        var call: @Sendable (Int) -> MeterStage.Call
        /// The reason that the sample of the long text states; empty: the whole payload.
        var reason: String
        var field: String

        var testDescription: String { vendor.rawValue }
    }

    private static func quotes(_ count: Int) -> String { String(repeating: "\"", count: count) }

    static let sends = [
        // The body, after the copies that the app replaces.
        Send(
            vendor: .rationalOwl,
            settings: [:],
            long: 2000,
            call: { MeterFaultTests.send(1, to: ["d0"], quotes($0)) },
            reason: "reduced",
            field: "body"
        ),
        // The app fetches the rest.
        Send(
            vendor: .ipns,
            settings: ["appId": "hr.mobile"],
            long: 4096,
            call: { count in
                let body: JSON = [
                    "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@00", "PUSH_ID": ["d0"], "SEND_TYPE": "I",
                    "ALERT": "You have a new approval", "MESSAGE": .string(quotes(count)),
                ]
                return MeterStage.Call(
                    path: "/ipns/send",
                    body: JSONWriter.bytes(body),
                    answer: ["RT": "0000", "RT_MSG": "SUCCESS", "MESSAGE_ID": "202001150900001234", "ACCEPTED": 1]
                )
            },
            reason: "reduced",
            field: "message"
        ),
        // The gateway does not read such a message at all.
        Send(
            vendor: .upmc,
            settings: ["applicationId": "com.example.app", "version": "5.1"],
            long: 4096,
            call: { count in
                let form = "TYPE=E&CUID=%5B%22u0%22%5D&PRIORITY=3&SERVICECODE=ALL&APP_ID=com.example.app&MESSAGE="
                return MeterStage.Call(
                    path: "/upmc/rcv_register_message.ctl",
                    body: Array((form + String(repeating: "%22", count: count)).utf8),
                    type: "application/x-www-form-urlencoded",
                    answer: [
                        "HEADER": ["RESULT_CODE": "0000", "RESULT_BODY": "OK", "SERVICE": "rcv_register_message"],
                        "BODY": ["SENDMSG_SEQNO": "1151", "REG_SUCCESS_CNT": "1", "REG_FAIL_CNT": "0"],
                    ]
                )
            },
            reason: "tooLarge",
            field: "MESSAGE"
        ),
    ]

    @Test(arguments: sends) func aSendThatDoesNotFitIsADifference(_ send: Send) async throws {
        let stage = try await MeterStage.make(send.vendor, send.settings)
        try await stage.observe([send.call(send.long)])
        #expect(try await stage.figure(.payload) == ParityFigure(.payload, samples: 1, differences: 1))
        // The control: the same send with a short text.
        let other = try await MeterStage.make(send.vendor, send.settings)
        try await other.observe([send.call(10)])
        #expect(try await other.figure(.payload) == ParityFigure(.payload, samples: 1, differences: 0))
    }

    @Test(arguments: sends) func theTrialNamesWhatIsShortened(_ send: Send) async throws {
        let stage = try await MeterStage.make(send.vendor, send.settings)
        func result(_ count: Int) throws -> PayloadTrial.Result? {
            let call = send.call(count)
            let request = try stage.request(call, at: stage.since)
            let answer = VendorResponse(status: 200, body: JSONWriter.bytes(call.answer))
            let found = stage.adapter.observedCommands(request, response: answer, settings: stage.settings)
            guard case .submission(.observe(let message))? = found.first else {
                do throws(AdapterError) {
                    _ = try stage.adapter.decode(request, settings: stage.settings)
                    return nil
                } catch {
                    return PayloadTrial.Result(error)
                }
            }
            return PayloadTrial(stage.adapter, message, of: stage.binding, at: stage.since).result
        }
        #expect(try result(10) == .fits)
        guard case .differs(let reason, let fields)? = try result(send.long) else {
            Issue.record("it fits")
            return
        }
        #expect(reason == send.reason && fields.contains(send.field), "\(reason) \(fields)")
    }
}
