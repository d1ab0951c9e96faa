import Foundation
import IPNS
import Model
import Testing

/// docs/contracts/ipns.md#2.4 and the rules of each call: the code of each error.
struct ResultCodeTests {
    private static func body(_ fields: [(String, JSON)]) -> JSON {
        .object(JSONObject([("APP_ID", "hr.mobile"), ("DEVICE_ID", "D1")] + fields))
    }

    private static let token = JSON.string(Fixture.token)

    @Test(
        arguments: [
            // docs/contracts/ipns.md#2.5
            ("appRegist", [("PUSH_TOKEN", token)], "2001"),
            ("appRegist", [("USER_CN", ""), ("PUSH_TOKEN", token)], "2001"),
            ("appRegist", [("USER_CN", "E1")], "2001"),
            ("appRegist", [("USER_CN", "E1"), ("PUSH_TOKEN", "9f2c")], "1305"),
            ("appRegist", [("USER_CN", "E1"), ("PUSH_TOKEN", .string(String(repeating: "x", count: 64)))], "1305"),
            ("appRegist", [("USER_CN", "E1"), ("PUSH_TOKEN", token), ("PUSH_YN", "maybe")], "2002"),
            ("appRegist", [("USER_CN", "E1"), ("PUSH_TOKEN", token), ("PUSH_TYPE", "windows")], "2002"),
            // docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.7
            ("recvReport", [], "2001"), ("readReport", [("REQ_ID", "")], "2001"),
            ("readReport", [("REQ_ID", [])], "2002"),
            // docs/contracts/ipns.md#2.8
            ("updateConfig", [("START_TIME", "2400")], "2002"), ("updateConfig", [("END_TIME", "1260")], "2002"),
            ("updateConfig", [("START_TIME", "09:00")], "2002"), ("updateConfig", [("START_TIME", "900")], "2002"),
            ("updateConfig", [("PUSH_YN", "X")], "2002"),
            // docs/contracts/ipns.md#2.9
            ("getMsgs", [("PUSH_ID_TYPE", "@02"), ("REQ_TYPE", "N")], "2002"),
            ("getMsgs", [("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "X")], "2002"),
            ("getMsgs", [("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "O")], "2001"),
            ("getMsgs", [("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "O"), ("REQ_ID", "")], "2001"),
            ("getMsgs", [("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "N"), ("COUNT", "ten")], "2002"),
            ("getMsgDetail", [], "2001"), ("nothing", [("REQ_ID", "1"), ("ALERT", "a")], "9999"),
        ] as [(String, [(String, JSON)], String)]
    )
    func aMistakeHasItsCode(_ operation: String, _ fields: [(String, JSON)], _ code: String) throws {
        #expect(try Mount.result(Mount.request("/ipns/\(operation)", Self.body(fields))) == code)
    }

    @Test(
        arguments: [
            ("PUSH_ID", nil, "2001"), ("PUSH_ID", [], "2001"), ("PUSH_ID", [1, [2]], "2002"), ("ALERT", nil, "2001"),
            ("PUSH_ID_TYPE", "@9", "2002"), ("SEND_TYPE", "X", "2002"), ("SEND_TYPE", "R", "2001"),
            ("BADGE", -1, "2002"),
            ("ALERT", .string(String(repeating: "가", count: 342)), "1036"),
            ("MESSAGE", .string(String(repeating: "m", count: 32 * 1024 + 1)), "1036"),
            ("PUSH_ID", .array((0...1000).map { .string("E\($0)") }), "2002"),
        ] as [(String, JSON?, String)]
    )
    func aSendsMistakeHasItsCode(_ key: String, _ value: JSON?, _ code: String) throws {
        var body = keyed([
            "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": "a", "SEND_TYPE": "I",
        ])
        body[key] = value
        #expect(
            try Mount.result(Mount.request("/ipns/send", .object(body), headers: ["Authorization": "Bearer k"])) == code
        )
    }

    @Test(
        arguments: [
            (.unknownBinding, "1400"), (.unknownDevice, "2003"), (.unknownMessage, "2004"), (.invalid("dueAt"), "2002"),
            (.invalid("content"), "1036"), (.invalid("token"), "1305"), (.tooMany("audience", limit: 1), "2002"),
            (.unavailable(retryAfter: nil), "9999"), (.rateLimited(retryAfter: nil), "9999"), (.noCredential, "9999"),
        ] as [(Refusal, String)]
    )
    func aRefusalHasItsCode(_ refusal: Refusal, _ code: String) throws {
        let request = Mount.request("/ipns/getConfig", Self.body([]))
        #expect(try Mount.answer(request, .refused(refusal))["RT"]?.string == code)
    }

    @Test func onlyAnUnreadableBodyIsNot200() throws {
        let broken = Mount.request("/ipns/getConfig", bytes: Array("{\"APP_ID\":".utf8))
        let response = Mount.adapter.refuse(AdapterError(.unreadable), for: broken, settings: .unbound)
        #expect(response.status == 400)
        #expect(try Mount.result(broken) == "9999")
        let missing = Mount.adapter.refuse(AdapterError(.missing, field: "APP_ID"), for: broken, settings: .unbound)
        #expect(missing.status == 200)
    }

    @Test(arguments: [(JSON.null, 20), (0, 20), (-5, 20), (1, 1), (50, 50), (51, 50), ("7", 7), (9_000_000_000, 50)])
    func countsHaveTheirBounds(_ count: JSON, _ wanted: Int) throws {
        let fields: [(String, JSON)] = [("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "n"), ("REQ_ID", "1"), ("COUNT", count)]
        let commands = try Mount.commands(Mount.request("/ipns/getMsgs", Self.body(fields)))
        // N ignores REQ_ID.
        #expect(
            commands == [.inbox(.history(DeviceCaller(key: "D1"), HistoryPage(.device, before: nil, count: wanted)))]
        )
    }

    @Test(
        arguments: [
            ("Y", true), ("n", false), ("TRUE", true), ("false", false), ("1", true), ("0", false), (true, true),
            (0, false),
        ]
            as [(JSON, Bool)]
    )
    func flagsComeInManySpellings(_ value: JSON, _ flag: Bool) throws {
        let commands = try Mount.commands(Mount.request("/ipns/updateConfig", Self.body([("PUSH_YN", value)])))
        var change = PreferenceChange(acceptsPush: flag)
        change.timeZone = TimeZoneName(stored: "Asia/Seoul")
        #expect(commands == [.preference(.setPreferences(DeviceCaller(key: "D1"), change))])
    }

    @Test func aReservationIsATimeOfSeoul() throws {
        let body: JSON = [
            "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@00", "PUSH_ID": "D1", "ALERT": "a", "SEND_TYPE": "R",
            "RESV_DATE": "20261225133000", "BEDGE": "3",
        ]
        let commands = try Mount.commands(
            Mount.request("/ipns/send", body, headers: ["Authorization": "bearer k"])
        )
        guard case .submission(.submit(let submission))? = commands.first else {
            Issue.record("no submission")
            return
        }
        // 13:30 in Seoul is 04:30 UTC.
        #expect(submission.timing.dueAt == Timestamp(seconds: 1_798_173_000) && submission.lane == .transactional)
        #expect(submission.audience == .listed([Addressee(.deviceKey("D1"))]) && submission.content.badge == 3)
        for wrong in ["20261325133000", "2026122513300", "20260230000000", "2026122513300x"] {
            var body = try #require(body.object)
            body["RESV_DATE"] = .string(wrong)
            #expect(
                try Mount.result(Mount.request("/ipns/send", .object(body), headers: ["Authorization": "Bearer k"]))
                    == "2002"
            )
        }
    }
}
