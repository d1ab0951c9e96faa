import Foundation
import HTTPTypes
import IPNS
import Model
import TestKit
import Testing

/// The rules of every adapter, for iPNS.
struct ConformanceTests {
    /// Every documented request; `recvReport` has no example but a list of its fields (docs/contracts/ipns.md#2.6).
    static func documented() throws -> [VendorRequest] {
        let abbreviations: KeyValuePairs = [
            "9f2c…64hex": Fixture.token, "\"RT\":\"0000\",…,": "\"RT\":\"0000\",", "{…same item…}": "{}",
        ]
        let files = [
            "appRegist.txt", "readReport.txt", "config.txt", "getMsgs.txt", "getMsgDetail.txt", "polling.txt",
            "send.txt",
        ]
        let calls = try files.flatMap { try Fixture.calls($0, abbreviations) }
        return calls.map { Mount.request($0.path, $0.request, headers: ["Authorization": "Bearer key"]) } + [
            Mount.request(
                "/ipns/recvReport",
                ["APP_ID": "hr.mobile", "DEVICE_ID": "5B1C", "MSG_ID": "202001150900001234"]
            )
        ]
    }

    static func subject() throws -> AdapterUnderTest {
        AdapterUnderTest(
            adapter: IPNSAdapter(),
            settings: Mount.settings,
            documented: try documented(),
            catchAll: ["ipns.other"],
            fault: Shape.fault
        )
    }

    @Test(arguments: AdapterContract.rules)
    func ipnsKeepsTheAdaptersRules(_ rule: AdapterRule) throws {
        #expect(rule.faults(try Self.subject()) == [])
    }

    @Test func mutatedRequestsGetTheVendorsShape() throws {
        #expect(AdapterContract.mutationFaults(try Self.subject(), reaching: 20) == [])
    }
}

/// The allowed form of an answer (docs/contracts/ipns.md#2.4 to 2.11), used by all checks above.
enum Shape {
    private static let codes: Set<String> = [
        "0000", "9999", "9998", "1400", "1036", "1305", "2001", "2002", "2003", "2004",
    ]
    private static let pair: Set<String> = ["RT", "RT_MSG", "rtCode", "error"]
    private static let successes: [Set<String>] =
        [
            [], ["DEVICE_ID", "PUSH_YN"], ["PUSH_YN", "START_TIME", "END_TIME", "CP_USER_ID"], ["COUNT", "LIST"],
            ["ITEM"],
            ["REMAIN", "LIST"],
        ].map { pair.union($0) } + [["RT", "RT_MSG", "MESSAGE_ID", "ACCEPTED", "NOT_FOUND"]]
    private static let item: Set<String> = [
        "REQ_ID", "TITLE", "ALERT", "MESSAGE", "SEND_DATE", "RECV_YN", "READ_YN", "USER_CN",
    ]

    @Sendable static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        guard response.headers[.contentType] == "application/json; charset=UTF-8" else { return "content type" }
        guard let body = (try? JSONParser.parse(response.body))?.object else { return "no object" }
        guard let code = body["RT"]?.string, codes.contains(code) else { return "RT \(String(describing: body["RT"]))" }
        guard response.status == 200 || response.status == 400 && code == "9999" else {
            return "status \(response.status)"
        }
        let keys = Set(body.keys)
        if code == "0000" {
            guard successes.contains(keys) else { return "keys \(body.keys)" }
            if keys.contains("error"), body["error"] != "" || body["rtCode"] != "0000" {
                return "the pair of a success"
            }
        } else {
            guard keys == pair, body["rtCode"]?.string == code, body["error"] == body["RT_MSG"], body["error"] != ""
            else {
                return "keys of a failure \(body.keys)"
            }
        }
        return typeFault(body)
    }

    private static func typeFault(_ body: JSONObject) -> String? {
        for (key, value) in body.pairs {
            switch key {
            case "COUNT", "REMAIN", "ACCEPTED": if value.int == nil { return "the type of \(key)" }
            case "NOT_FOUND": if value.array?.allSatisfy({ $0.string != nil }) != true { return "NOT_FOUND" }
            case "LIST": if value.array?.allSatisfy(isItem) != true { return "LIST" }
            case "ITEM": if !isItem(value) { return "ITEM" }
            default: if value.string == nil { return "the type of \(key)" }
            }
        }
        return nil
    }

    private static func isItem(_ json: JSON) -> Bool {
        guard let object = json.object else { return false }
        return Set(object.keys) == item && object.pairs.allSatisfy { $0.value.string != nil }
            && ["RECV_YN", "READ_YN"].allSatisfy { object[$0] == "Y" || object[$0] == "N" }
    }
}
