import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import UPMC

/// The rules of every adapter, for UPMC.
struct ConformanceTests {
    static let entry: InboxEntry = {
        var content = Content(title: "\"\u{1}", body: "홍길동 %VAR1%")
        content.isTemplate = true
        return InboxEntry(
            notification: Model.Notification(
                message: MessageID(UUID()),
                origin: .upmc,
                content: content,
                sentAt: Timestamp(milliseconds: .max)
            ),
            sender: nil,
            receivedAt: Timestamp(milliseconds: .min)
        )
    }()

    /// One documented form of each call, those of marketing in JSON.
    static func documented() throws -> [VendorRequest] {
        let forms = MutationTests.forms.sorted { $0.key.rawValue < $1.key.rawValue }.map { endpoint, form in
            let escaped = form.split(separator: "&").map { pair in
                pair.split(separator: "=", maxSplits: 1).map { PercentCoding.encode(String($0)) }.joined(separator: "=")
            }
            var request = Mount.call(endpoint.rawValue, escaped.joined(separator: "&"))
            if endpoint == .sendToList { request = upload(form) }
            request.route = endpoint.rawValue
            return request
        }
        let lines = try Fixture.text("mobile/calls.request.txt").split(separator: "\n")
        return forms
            + zip([UPMCCall.lastSession, .purchase], lines).map { endpoint, line in
                let body = line.lastIndex(of: "{").map { String(line[$0...]) } ?? ""
                var request = Mount.request(endpoint.path, body)
                request.route = endpoint.rawValue
                return request
            }
    }

    private static func upload(_ form: String) -> VendorRequest {
        var body = form.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1)
            return
                "--B\r\nContent-Disposition: form-data; name=\"\(halves[0])\"\r\n\r\n\(halves.dropFirst().joined())\r\n"
        }.joined()
        body +=
            "--B\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"l.csv\"\r\n\r\nhong,Hong,v\r\n--B--\r\n"
        return Mount.request(
            "/upmc/\(UPMCCall.sendToList.rawValue).ctl",
            body,
            contentType: "multipart/form-data; boundary=B"
        )
    }

    static func subject() throws -> AdapterUnderTest {
        AdapterUnderTest(
            adapter: Mount.adapter,
            settings: Mount.settings(),
            documented: try documented(),
            // Calls that the gateway cannot support are refused before they become commands, and calls that need no
            // store have no command.
            catchAll: [
                UPMCCall.unknownRoute, "getEncriptKey", "reAllocateUpns", "asking_authorization",
                "rcv_comm_configuration", "putAppLog",
            ],
            fault: fault
        )
    }

    /// The allowed form of an answer (docs/contracts/upmc.md#1.3, docs/contracts/upmc.md#1.11,
    /// docs/contracts/upmc.md#1.13).
    @Sendable private static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        guard response.headers[.contentType] == "application/json;charset=UTF-8" else { return "content type" }
        let isOfABackEnd = UPMCCall(path: request.path)?.caller == .sender
        guard response.headers[.accessControlAllowOrigin] == (isOfABackEnd ? nil : "*") else { return "origin" }
        guard let endpoint = UPMCCall(path: request.path) else {
            // A call outside the catalog is answered like a call of an app.
            return MutationTests.fault(response, .alive)
        }
        if endpoint.isMarketing {
            guard let object = (try? JSONParser.parse(response.body))?.object else { return "no object" }
            guard response.status == 200 || response.status == 400 else { return "status \(response.status)" }
            return object.keys.sorted() == ["code", "message"] && object.pairs.allSatisfy { $0.value.string != nil }
                ? nil : "keys \(object.keys)"
        }
        return MutationTests.fault(response, endpoint) ?? historyFault(response, endpoint)
    }

    private static let item: Set<String> = [
        "SEQNO", "APPID", "TITLE", "MESSAGE", "EXT", "SENDERCODE", "SENDDATE", "REVDATE", "READDATE", "READ_YN",
        "STATUS",
    ]

    private static func historyFault(_ response: VendorResponse, _ endpoint: UPMCCall) -> String? {
        guard let body = try? JSONParser.parse(response.body), body["HEADER"]?["RESULT_CODE"] == "0000",
            let list = body["BODY"]?.array
        else { return nil }
        let keys = list.compactMap { $0.object.map { Set($0.keys) } }
        switch endpoint {
        case .messageList: return keys.allSatisfy { $0 == item } ? nil : "keys of a list"
        case .message: return keys == [item] ? nil : "keys of a message"
        case .unreadCount: return keys == [["UNREAD", "BADGENO"]] ? nil : "keys of a count"
        default: return nil  // the common check of the shape covers it
        }
    }

    @Test(arguments: AdapterContract.rules)
    func upmcKeepsTheAdaptersRules(_ rule: AdapterRule) throws {
        #expect(rule.faults(try Self.subject()) == [])
    }

    @Test func mutatedRequestsGetTheVendorsShape() throws {
        #expect(AdapterContract.mutationFaults(try Self.subject(), reaching: 0) == [])
    }
}
