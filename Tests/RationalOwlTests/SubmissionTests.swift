import Model
import RationalOwl
import Testing

/// The rules of the send calls, docs/contracts/rationalowl.md#8.3 and docs/contracts/rationalowl.md#8.4.
struct SubmissionTests {
    static func decode(
        _ rest: String,
        path: String = "/msgClient/msgClientSendMsgByPhoneNum",
        headers: [String: String] = [:],
        settings: JSONObject = JSONObject()
    ) throws -> Submission {
        let body = "{\"rId\":\"R\",\"aId\":\"A\",\"ip\":\"203.0.113.10\",\(rest)}"
        let request = Mount.request(path, headers: headers, body: Array(body.utf8))
        let commands = try Mount.adapter.decode(request, settings: BindingSettings(values: settings))
        guard case .submission(.submit(let submission)) = try #require(commands.first) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    static let message = #""msg":{"body":"b"}"#
    static let one = #""dest":{"t":2,"tg":[{"pn":"01011111111"}]}"#

    /// docs/contracts/rationalowl.md#16.11.
    @Test(arguments: [
        "/msgClient/sendMsg", "/msgClient/msgClientSendMsgByPhoneNum", "/msgClient/sendMsgByPhoneNum",
        "/msgClient/sendMsg/",
    ])
    func everySpellingOfThePhoneCallIsTheSame(path: String) throws {
        let submission = try Self.decode("\(Self.message),\(Self.one)", path: path)
        #expect(submission.audience == .listed([Addressee(.phone("01011111111"))]))
    }

    @Test(arguments: ["/msgClient/msgClientSendMsgByDeviceId", "/msgClient/sendMsgByDeviceId"])
    func everySpellingOfTheDeviceCallIsTheSame(path: String) throws {
        let submission = try Self.decode(#""msg":{"body":"b"},"dest":{"t":2,"tg":[{"dId":"D"}]}"#, path: path)
        #expect(submission.audience == .listed([Addressee(.deviceKey("D"))]))
    }

    /// "Duplicates of the same person are sent once", also if the number has two spellings.
    @Test func aPersonIsSentToOnce() throws {
        let targets = #"{"pn":"010-1111-1111","un":"a"},{"pn":"+82 10-1111-1111","un":"b"},{"pn":1011111111}"#
        let submission = try Self.decode("\(Self.message),\"dest\":{\"t\":2,\"tg\":[\(targets)]}")
        #expect(
            submission.audience
                == .listed([Addressee(.phone("01011111111"), name: "a"), Addressee(.phone("1011111111"))])
        )
    }

    /// 2,000 targets per call, counted as listed.
    @Test func oneTargetMoreThanTheLimitIsRefused() throws {
        func targets(_ count: Int) -> String {
            let list = (0..<count).map { "{\"pn\":\"0101\(1_000_000 + $0)\"}" }.joined(separator: ",")
            return "\(Self.message),\"dest\":{\"t\":2,\"tg\":[\(list)]}"
        }
        guard case .listed(let listed) = try Self.decode(targets(2000)).audience else { return #expect(Bool(false)) }
        #expect(listed.count == 2000)
        #expect(throws: AdapterError(.tooLarge, field: "dest.tg")) { try Self.decode(targets(2001)) }
    }

    /// "`msg.body` <= 2000 CP949 bytes": two bytes per syllable.
    @Test func theTextIsCountedInKoreanBytes() throws {
        func body(_ text: String) -> String { "\"msg\":{\"body\":\"\(text)\"},\(Self.one)" }
        #expect(try Self.decode(body(String(repeating: "가", count: 1000))).content.body.count == 1000)
        #expect(throws: AdapterError(.tooLarge, field: "msg.body")) {
            try Self.decode(body(String(repeating: "가", count: 1000) + "a"))
        }
    }

    /// Urgent by `msg.type` or `msg.u`; the lane is set accordingly.
    @Test(arguments: [
        (#""type":2"#, true), (#""type":"2""#, true), (#""u":true"#, true), (#""u":1"#, true), (#""type":1"#, false),
        (#""u":false"#, false),
    ])
    func urgencyIsReadFromEitherField(field: String, isUrgent: Bool) throws {
        let submission = try Self.decode("\"msg\":{\"body\":\"b\",\(field)},\(Self.one)")
        #expect(submission.content.isUrgent == isUrgent)
        #expect(submission.lane == (isUrgent ? .urgent : .transactional))
    }

    /// docs/contracts/rationalowl.md#8.3, `tArgv`: the three shapes.
    @Test(arguments: [
        (#"{"a":"1","b":2}"#, ["a": "1", "b": "2"] as JSON), (#"["1",2]"#, ["1", "2"] as JSON),
        (#"[{"k":"a","v":"1"},{"k":"b","v":2}]"#, ["a": "1", "b": "2"] as JSON),
    ])
    func templateArgumentsHaveThreeShapes(text: String, expected: JSON) throws {
        let submission = try Self.decode("\"msg\":{\"tId\":\"T\",\"tArgv\":\(text)},\(Self.one)")
        #expect(submission.template == TemplateReference(id: "T", arguments: expected))
        #expect(submission.content.body.isEmpty)
    }

    /// `rv`: now, or a local time, also without leading zeros.
    @Test func reservationsAreLocalTimes() throws {
        let sent = "\(Self.message),\(Self.one)"
        #expect(try Self.decode("\(sent),\"rv\":{\"t\":1}").timing.dueAt == nil)
        // 2023-12-25 13:10:00 in Seoul is 04:10:00 UTC.
        let seoul = try Self.decode("\(sent),\"rv\":{\"t\":2,\"st\":\"2023/12/25 13:10:0\"}")
        #expect(seoul.timing.dueAt == Timestamp(seconds: 1_703_477_400))
        // The same local time in Berlin, in winter, is 12:10:00 UTC.
        let berlin = try Self.decode(
            "\(sent),\"rv\":{\"t\":\"2\",\"st\":\"2023/12/25 13:10:0\"}",
            settings: keyed(["timezone": "Europe/Berlin"])
        )
        #expect(berlin.timing.dueAt == Timestamp(seconds: 1_703_506_200))
    }

    @Test func theCallersOwnRepeatKeyIsUsed() throws {
        let sent = "\(Self.message),\(Self.one)"
        #expect(try Self.decode(sent, headers: ["Idempotency-Key": "k-1"]).idempotencyKey == "k-1")
        #expect(throws: AdapterError(.invalid, field: "Idempotency-Key")) {
            try Self.decode(sent, headers: ["Idempotency-Key": String(repeating: "k", count: 129)])
        }
    }

    /// Line breaks and a data prefix are accepted in the input.
    @Test(arguments: ["aGVsbG8=", #"aGVs\r\nbG8=\n"#, "data:image/png;base64,aGVsbG8="])
    func imagesAreDecoded(text: String) throws {
        let submission = try Self.decode(
            "\(Self.message),\(Self.one),\"img\":{\"imgN\":\"h\",\"imgD\":\"\(text)\",\"imgS\":\"5\"}"
        )
        #expect(submission.image == InlineImage(name: "h", bytes: Array("hello".utf8), statedSize: 5))
    }

    @Test func aDisabledFallbackIsIgnored() throws {
        #expect(try Self.decode("\(Self.message),\(Self.one),\"a\":{\"s\":1,\"t\":12}").fallback == nil)
        #expect(try Self.decode("\(Self.message),\(Self.one),\"a\":{}").fallback == nil)
    }

    /// docs/contracts/rationalowl.md#8.3, the last row of its table of errors.
    @Test(arguments: [
        (#""dest":{"t":1}"#, AdapterError(.missing, field: "msg")),
        (#""msg":{"title":"t"},"dest":{"t":1}"#, AdapterError(.missing, field: "msg.body")),
        (#""msg":{"body":""},"dest":{"t":1}"#, AdapterError(.missing, field: "msg.body")),
        (#""msg":{"body":"b"}"#, AdapterError(.missing, field: "dest")),
        (#""msg":{"body":"b"},"dest":{"t":3}"#, AdapterError(.invalid, field: "dest.t")),
        (#""msg":{"body":"b"},"dest":{"t":2}"#, AdapterError(.missing, field: "dest.tg")),
        (#""msg":{"body":"b"},"dest":{"t":2,"tg":[]}"#, AdapterError(.missing, field: "dest.tg")),
        (#""msg":{"body":"b"},"dest":{"t":2,"tg":["0101"]}"#, AdapterError(.invalid, field: "dest.tg")),
        (#""msg":{"body":"b"},"dest":{"t":2,"tg":[{"pn":"abc"}]}"#, AdapterError(.invalid, field: "dest.tg.pn")),
        (#""msg":{"body":"b"},"dest":{"t":2,"tg":[{"un":"a"}]}"#, AdapterError(.missing, field: "dest.tg.pn")),
        (#""msg":{"body":"b","type":3},"dest":{"t":1}"#, AdapterError(.invalid, field: "msg.type")),
        (#""msg":{"body":"b"},"dest":{"t":1},"rv":{"t":2}"#, AdapterError(.missing, field: "rv.st")),
        (#""msg":{"body":"b"},"dest":{"t":1},"rv":{"t":2,"st":"tomorrow"}"#, AdapterError(.invalid, field: "rv.st")),
        (
            #""msg":{"body":"b"},"dest":{"t":1},"rv":{"t":2,"st":"2026/2/29 1:1:1"}"#,
            AdapterError(.invalid, field: "rv.st")
        ),
        (#""msg":{"body":"b"},"dest":{"t":1},"img":{"imgD":"!"}"#, AdapterError(.invalid, field: "img.imgD")),
        (#""msg":{"body":"b"},"dest":{"t":1},"img":{"imgN":"x"}"#, AdapterError(.missing, field: "img.imgD")),
        (#""msg":{"body":"b"},"dest":{"t":1},"a":{"s":2}"#, AdapterError(.missing, field: "a.t")),
        (#""msg":{"body":"b"},"dest":{"t":1},"a":{"s":2,"t":12}"#, AdapterError(.missing, field: "a.sp")),
        (
            #""msg":{"body":"b"},"dest":{"t":1},"a":{"s":2,"t":11,"atm":2,"sp":"021234567","kcId":"K"}"#,
            AdapterError(.missing, field: "a.atId")
        ),
        (#""msg":{"tId":"T","tArgv":"x"},"dest":{"t":1}"#, AdapterError(.invalid, field: "msg.tArgv")),
    ])
    func aFaultOfASendNamesItsField(rest: String, error: AdapterError) throws {
        #expect(throws: error) { try Self.decode(rest) }
    }

    /// "`a.sp` not an approved sending number", if numbers are provisioned.
    @Test func onlyApprovedNumbersMaySendTexts() throws {
        let settings = keyed(["fallback.sendingNumbers": ["02-1234-5678"]])
        let sent = "\(Self.message),\(Self.one)"
        #expect(
            try Self.decode("\(sent),\"a\":{\"s\":2,\"t\":12,\"sp\":\"0212345678\"}", settings: settings).fallback
                != nil
        )
        #expect(throws: AdapterError(.invalid, field: "a.sp")) {
            try Self.decode("\(sent),\"a\":{\"s\":2,\"t\":12,\"sp\":\"0299999999\"}", settings: settings)
        }
    }
}
