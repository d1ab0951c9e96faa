import Model
import Testing

@testable import ConsoleAudience
@testable import PageParts
@testable import WebConsole

/// The messages that wait, on the page of the diagnosis of a device: the first is the answer, and its link leads to the page that changes the cause.
struct DiagnosisWaitsTests {
    private static let device = "0198a1f0-0000-7000-8000-00000000000d"
    private static let message = "0198a1f0-7c00-7000-8000-000000000001"
    private static let target = "0198a1f0-0000-7000-8000-00000000000a"

    private static func wait(_ cause: String, _ more: JSONObject = [:]) -> JSON {
        var object: JSONObject = [
            "message": .string(message), "target": .string(target), "selected": true, "vendor": "native",
            "lane": "bulk", "because": .string(cause), "since": "2026-11-22T05:02:07.209Z", "until": .null,
            "dueAt": "2026-11-22T05:02:07.209Z", "expiresAt": "2026-11-23T05:02:07.209Z", "attempts": 0,
            "credential": .null, "reason": .null, "text": "English only", "action": "English only",
        ]
        for (name, value) in more.pairs { object[name] = value }
        return .object(object)
    }

    private func content(
        _ waiting: [JSON],
        conditions: [JSON] = [],
        isComplete: Bool = true,
        role: Role = .owner,
        _ language: Language = .en
    ) throws -> PageContent {
        let diagnosis: JSON = [
            "device": .string(Self.device), "app": "shop", "lane": "bulk", "at": "2026-11-22T06:00:00.000Z",
            "reachable": .bool(conditions.isEmpty), "answer": "English only", "conditions": .array(conditions),
            "clients": [], "deliveries": [], "waiting": .array(waiting), "waitingComplete": .bool(isComplete),
        ]
        let device: JSON = ["id": .string(Self.device), "app": "shop", "tokenState": "active", "identities": []]
        let request = ReadPages.request(["device": Self.device], role: role, language)
        return try ReadPages.content(DiagnosisPage(), request, ["device": device, "diagnosis": diagnosis])
    }

    struct Cause: Sendable, CustomTestStringConvertible {
        var name: String
        var more: JSONObject = [:]
        var mark: Mark
        var path: String
        var en: String
        var ko: String
        var testDescription: String { name }
    }

    private static let until: JSON = "2026-11-22T07:00:00.000Z"

    static let causes = [
        Cause(name: "approval", mark: .warn, path: "approvals", en: "It awaits an approval.", ko: "승인을 기다립니다"),
        Cause(name: "paused", mark: .warn, path: "messages/\(message)", en: "It is paused. Resume it", ko: "재개하세요"),
        Cause(
            name: "gaveUp",
            more: ["reason": "ServiceUnavailable"],
            mark: .bad,
            path: "messages/\(message)",
            en: "APNs is overloaded",
            ko: "재시도가 중단되었습니다"
        ),
        Cause(name: "sending", mark: .info, path: "messages/\(message)", en: "A node is sending it.", ko: "발신하는 중"),
        Cause(name: "lane", mark: .warn, path: "nodes", en: "this kind (Bulk) are paused", ko: "이 종류(대량)"),
        Cause(
            name: "schedule",
            more: ["until": until],
            mark: .info,
            path: "messages/\(message)",
            en: "It is scheduled for Sun 22 Nov 16:00.",
            ko: "예약되어 있습니다"
        ),
        Cause(
            name: "quietHours",
            more: ["until": until],
            mark: .info,
            path: "apps/shop",
            en: "until Sun 22 Nov 16:00, because of quiet hours",
            ko: "방해 금지 시간"
        ),
        Cause(
            name: "localTime",
            more: ["until": until],
            mark: .info,
            path: "messages/\(message)",
            en: "the local time of the device",
            ko: "단말 현지 시각 예약"
        ),
        Cause(name: "pace", mark: .info, path: "messages/\(message)", en: "The message is throttled.", ko: "발신 속도"),
        Cause(
            name: "receivingWindow",
            more: ["until": until],
            mark: .info,
            path: "devices/\(device)",
            en: "the receiving window of the device",
            ko: "수신 허용 시간"
        ),
        Cause(name: "audience", mark: .info, path: "messages/\(message)", en: "reading its audience", ko: "대상을 확인하는 중"),
        Cause(
            name: "credential",
            more: ["credential": "apple", "reason": "InvalidProviderToken", "until": until],
            mark: .bad,
            path: "credentials/apple",
            en: "APNs rejects credential apple (InvalidProviderToken). The next attempt is on Sun 22 Nov 16:00.",
            ko: "인증서·키 apple을(를) 거절합니다"
        ),
        Cause(
            name: "upstream",
            more: ["credential": "old"],
            mark: .bad,
            path: "credentials/old",
            en: "the upstream old, which takes no calls",
            ko: "업스트림 old"
        ),
        Cause(
            name: "retry",
            more: ["until": until],
            mark: .warn,
            path: "messages/\(message)/deliveries/\(target)",
            en: "it is tried again. The next attempt is on Sun 22 Nov 16:00.",
            ko: "다시 시도합니다. 다음 시도 시각은"
        ),
        Cause(name: "rate", mark: .warn, path: "nodes", en: "The rate limit of the tenant is reached.", ko: "테넌트의 초당"),
        Cause(
            name: "rate",
            more: ["credential": "apple"],
            mark: .warn,
            path: "credentials/apple",
            en: "The rate limit of credential apple",
            ko: "apple의 초당"
        ),
        Cause(name: "queue", mark: .info, path: "nodes", en: "It is queued behind other messages.", ko: "차례를 기다립니다"),
    ]

    @Test(arguments: causes) func theFirstWaitIsTheAnswer(_ cause: Cause) throws {
        for (language, text) in [(Language.en, cause.en), (.ko, cause.ko)] {
            let content = try content([Self.wait(cause.name, cause.more)], language)
            #expect(content.sentence.mark == cause.mark)
            #expect(content.sentence.text.contains(text), "\(content.sentence.text)")
            #expect(content.sentence.link?.path == cause.path)
            #expect(!ReadPages.words(content).contains("English only"))
            let links = ReadPages.tables(content).flatMap(ReadPages.links).map(\.path)
            #expect(links.contains("messages/\(Self.message)") && links.contains(cause.path))
        }
        let since = "A message to this device has been waiting since Sun 22 Nov 14:02."
        #expect(try content([Self.wait(cause.name, cause.more)]).sentence.text.hasPrefix(since))
    }

    @Test func aConditionComesFirst() throws {
        let lane: JSON = [
            "condition": "lane", "met": false, "blocks": true, "since": .null, "until": .null, "identity": .null,
            "text": "English only", "action": .null, "reason": .null, "credential": .null,
        ]
        let content = try content([Self.wait("paused")], conditions: [lane])
        #expect(content.sentence.text.hasPrefix("Messages of this kind are paused."))
        #expect(content.sentence.link?.path == "nodes")
        #expect(ReadPages.words(content).contains("It is paused."))
    }

    @Test func aCampaignThatIsPlannedIsNoAnswer() throws {
        let later: JSONObject = ["selected": false, "dueAt": "2026-11-23T06:00:00.000Z", "until": Self.until]
        let planned = try content([Self.wait("schedule", later)])
        #expect(planned.sentence.mark == .ok)
        #expect(ReadPages.words(planned).contains("not known yet whether the device is a recipient"))
        let due = try content([Self.wait("audience", ["selected": false])])
        #expect(due.sentence.text.hasPrefix("A message that may be for this device has been waiting since"))
    }

    @Test func aSearchThatWasLimitedIsNotACleanAnswer() throws {
        #expect(try content([], isComplete: false).sentence.text.contains("more open messages"))
        #expect(try !content([]).sentence.text.contains("more open messages"))
    }

    @Test func onlyThoseWhoApproveGetTheLinkToApprovals() throws {
        let content = try content([Self.wait("approval")], role: .analyst)
        #expect(content.sentence.link?.path == "messages/\(Self.message)")
    }

    // The name of a credential comes from its member, not from the sentence of the API.
    @Test func aConditionNamesItsCredential() throws {
        let credential: JSON = [
            "condition": "credential", "met": false, "blocks": true, "since": .null, "until": .null, "identity": .null,
            "text": "English only", "action": .null, "reason": "InvalidProviderToken", "credential": "apple",
        ]
        let sentence = try content([], conditions: [credential]).sentence
        #expect(sentence.text.contains("APNs rejects credential apple (InvalidProviderToken)"))
        #expect(sentence.link?.path == "credentials/apple")
    }
}
