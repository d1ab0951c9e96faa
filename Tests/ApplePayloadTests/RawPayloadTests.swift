import ApplePayload
import Model
import TestKit
import Testing

/// Payloads that are sent unchanged.
struct RawPayloadTests {
    private func fault(_ text: String, limit: Int = 4096) -> PushFault? {
        RawPayload.fault(in: Array(text.utf8), limit: limit)
    }

    @Test(arguments: [
        "{}", #"{"aps":{}}"#, #" { "a" : [ 1 , -0.5e+10 , true , false , null , "x" ] } "# + "\n\t\r",
        #"{"a":{"b":[{},[]]}}"#,
        #"{"é":"소포 \u00e9 \ud83c\udf81 \"\\\/\b\f\n\r\t"}"#, #"{"a":0,"b":-0,"c":10.01E-2}"#,
        #"{"aps":{"alert":17,"badge":"x"}}"#, #"{"a":1,"a":2}"#,
    ])
    func anyObjectPasses(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(arguments: [
        "[]", "1", #""x""#, "null", "x", "{", "}", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#,
        #"{"a":1 "b":2}"#,
        #"{"a":[1,]}"#, #"{"a":[,1]}"#, #"{"a":[1 2]}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#,
        #"{"a":1e}"#,
        #"{"a":-}"#, #"{"a":tru}"#, #"{"a":nul}"#, #"{"a":True}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":'x'}"#, #"{"a":"x}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#,
        #"{"a":"\ud800\u0041"}"#,
        "{\"a\":\"\u{1}\"}", "{}{}", "{} x", "\u{FEFF}{}", "{\"a\":1}\u{0}", "//\n{}", "   ",
    ])
    func otherTextsThanJSONObjectsAreRefused(text: String) throws {
        let fault = try #require(self.fault(text))
        #expect(fault.field == "payload")
        guard case .malformed = fault.rule else { return #expect(Bool(false), "\(fault)") }
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] {
            let payload = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(RawPayload.fault(in: payload, limit: 4096) == PushFault("payload", .malformed("UTF-8")))
        }
    }

    @Test func sizeIsThatOfTheType() throws {
        func payload(_ count: Int) -> [UInt8] {
            Array((#"{"a":""# + String(repeating: "x", count: count - 8) + #""}"#).utf8)
        }
        #expect(try RawPayload.push(payload(4096), type: .alert).bytes.count == 4096)
        #expect(throws: PushFault("payload", .tooLong(limit: 4096), .payloadTooLarge)) {
            try RawPayload.push(payload(4097), type: .alert)
        }
        #expect(try RawPayload.push(payload(5120), type: .voip).bytes.count == 5120)
        #expect(throws: PushFault("payload", .tooLong(limit: 5120), .payloadTooLarge)) {
            try RawPayload.push(payload(5121), type: .voip)
        }
        #expect(throws: PushFault("payload", .missing, .payloadEmpty)) { try RawPayload.push([], type: .alert) }
    }

    @Test func bytesAreUnchangedAndThePriorityIsThatOfTheType() throws {
        let bytes = Array(" { \"aps\" : { } } ".utf8)
        #expect(try RawPayload.push(bytes, type: .background).bytes == bytes)
        #expect(try RawPayload.push(bytes, type: .background).priority == 5)
        #expect(try RawPayload.push(bytes, type: .voip, priority: 1, collapseID: "c").priority == 1)
    }

    // "bounded, depth-limited": the scan does not recurse.
    @Test func depthIsBounded() {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
        }
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65))?.rule == .malformed("JSON: nested deeper than 64, at byte 68"))
        #expect(fault(String(repeating: "[", count: 1_000_000), limit: 2_000_000) != nil)
        #expect(fault(String(repeating: #"{"a":"#, count: 200_000), limit: 2_000_000) != nil)
    }

    /// Truncated and randomly changed bytes: the scan must agree with the parser of the model on each input.
    @Test func truncatedAndMutatedPayloadsAreClassifiedCorrectly() {
        let whole = Array(
            #"{"aps":{"alert":{"title":"소포 \"A\" \ud83c\udf81","loc-args":["x",1.5e3,-0]},"badge":3},"k":[true,null,{}]}"#
                .utf8
        )
        #expect(RawPayload.fault(in: whole, limit: 4096) == nil)
        for count in 0..<whole.count { #expect(RawPayload.fault(in: Array(whole[..<count]), limit: 4096) != nil) }
        var random = SplitMix(state: 20_261_121)
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(whole.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let isObject = (try? JSONParser.parse(bytes))?.object != nil
            #expect(
                (RawPayload.fault(in: bytes, limit: 4096) == nil) == isObject,
                "\(String(decoding: bytes, as: UTF8.self))"
            )
        }
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = RawPayload.fault(in: bytes, limit: 4096)
        }
    }

    // MARK: Content

    private func fault(_ document: JSON, _ type: PushType) -> PushFault? {
        document.object.map { RawPayload.fault(in: $0, type: type) } ?? PushFault("test", .missing)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x","badge":0,"sound":{"critical":1},"new":1},"k":1}"#, PushType.alert),
        (#"{"aps":{}}"#, .voip), (#"{"aps":{"content-available":1,"sound":""}}"#, .background),
        (#"{"aps":{"content-changed":true}}"#, .widgets), (#"{"mdm":"m"}"#, .mdm), (#"{"x":1}"#, .unknown("new")),
        (#"{"aps":{"timestamp":1,"event":"end"}}"#, .liveActivity),
        (#"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, .liveActivity),
    ])
    func documentedPayloadPasses(text: String, type: PushType) throws {
        #expect(fault(try JSONParser.parse(text), type) == nil)
    }

    @Test(arguments: [
        (#"{}"#, PushType.alert, "aps"), (#"{"aps":1}"#, .alert, "aps"), (#"{"aps":{"alert":1}}"#, .alert, "aps.alert"),
        (#"{"aps":{"alert":{"body":1}}}"#, .alert, "aps.alert.body"), (#"{"aps":{"badge":-1}}"#, .voip, "aps.badge"),
        (#"{"aps":{"badge":"1"}}"#, .alert, "aps.badge"), (#"{"aps":{"sound":1}}"#, .alert, "aps.sound"),
        (#"{"aps":{}}"#, .background, "aps.content-available"),
        (#"{"aps":{"content-available":1,"alert":"a"}}"#, .background, "aps.alert"),
        (#"{"aps":{"content-available":1,"sound":"s"}}"#, .background, "aps.sound"), (#"{"aps":{}}"#, .mdm, "mdm"),
        (#"{"aps":{}}"#, .controls, "aps.content-changed"),
        (#"{"aps":{"event":"end"}}"#, .liveActivity, "aps.timestamp"),
        (#"{"aps":{"timestamp":1}}"#, .liveActivity, "aps.event"),
        (#"{"aps":{"timestamp":1,"event":"stop"}}"#, .liveActivity, "aps.event"),
        (#"{"aps":{"timestamp":1,"event":"update"}}"#, .liveActivity, "aps.content-state"),
        (#"{"aps":{"timestamp":1,"event":"start"}}"#, .liveActivity, "aps.attributes-type"),
    ])
    func payloadAgainstTheRulesOfItsTypeNamesTheField(text: String, type: PushType, field: String) throws {
        #expect(fault(try JSONParser.parse(text), type)?.field == field)
    }

    @Test func typeIsInferredFromTheVisibleContent() throws {
        for (text, type) in [
            (#"{"aps":{"content-available":1}}"#, PushType.background),
            (#"{"aps":{"content-available":1,"sound":""}}"#, .background),
            (#"{"aps":{"content-available":1,"alert":""}}"#, .alert), (#"{"x":1}"#, .alert),
        ] {
            #expect(RawPayload.inferredType(of: try #require(try JSONParser.parse(text).object)) == type)
        }
    }
}
