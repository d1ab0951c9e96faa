import APNs
import ApplePayload
import Model
import Testing

/// Pushes that are refused before they reach a stream, and pushes that are not. Source: docs/contracts/apns.md#5,
/// docs/contracts/apns.md#6.
struct PushGuardTests {
    private func reason(_ push: Push) -> String? { PushGuard.fault(in: push)?.rejection.reason }
    private func payload(
        _ count: Int = 20,
        type: PushType = .alert,
        priority: Int = 10,
        collapseID: String? = nil
    ) -> PushPayload {
        PushPayload(bytes: Array(repeating: 0x20, count: count), type: type, priority: priority, collapseID: collapseID)
    }

    @Test func validPushPasses() {
        #expect(PushGuard.fault(in: makePush(0))?.rejection == nil)
    }

    // The guard remembers the last valid topic, type and priority, and still checks every different value.
    @Test func earlierValidPushDoesNotSkipChecks() {
        var pushGuard = PushGuard()
        func fault(_ push: Push) -> PushFault? {
            let batch = [makePush(9), push]
            return pushGuard.fault(in: batch.span, at: 1)
        }
        #expect(fault(makePush(0)) == nil)
        #expect(fault(makePush(1)) == nil)
        #expect(fault(makePush(2, token: "zz"))?.rejection.reason == "BadDeviceToken")
        #expect(fault(makePush(3, payload: payload(0)))?.rejection.reason == "PayloadEmpty")
        #expect(fault(makePush(4, payload: payload(4097)))?.rejection.reason == "PayloadTooLarge")
        #expect(
            fault(makePush(5, payload: payload(collapseID: " x")))?.rejection.reason == "BadCollapseId"
        )
        #expect(fault(makePush(6, topic: "a b"))?.rejection.reason == "BadTopic")
        #expect(fault(makePush(7, payload: payload(priority: 3)))?.rejection.reason == "BadPriority")
        #expect(fault(makePush(8, payload: payload(5000, type: .voip))) == nil)
        #expect(fault(makePush(9, payload: payload(5000)))?.rejection.reason == "PayloadTooLarge")
    }

    @Test func refusalStatesThatNoRequestWasSent() throws {
        let refusal = try #require(PushGuard.fault(in: makePush(0, payload: payload(0)))?.rejection)
        #expect(refusal == Rejection(scope: .content, reason: "PayloadEmpty", status: 0))
    }

    @Test func payloadLimitIs4096BytesAnd5120ForVoIPOnly() {
        #expect(reason(makePush(0, payload: payload(4096))) == nil)
        #expect(reason(makePush(0, payload: payload(4097))) == "PayloadTooLarge")
        #expect(reason(makePush(0, payload: payload(5120, type: .voip))) == nil)
        #expect(reason(makePush(0, payload: payload(5121, type: .voip))) == "PayloadTooLarge")
    }

    @Test(arguments: ["", "abc", "zz", String(repeating: "a", count: 402), "aa\r\nbb", "../aaaa"])
    func tokenThatIsNotHexNeverReachesAPath(token: String) {
        let refusal = PushGuard.fault(in: makePush(0, token: token))?.rejection
        #expect(refusal == Rejection(scope: .tokenDoubtful, reason: "BadDeviceToken", status: 0))
    }

    @Test(arguments: [2, 64, 108, 160, 400]) func tokenLengthIsFree(count: Int) {
        #expect(reason(makePush(0, token: String(repeating: "b", count: count))) == nil)
    }

    @Test func priorityIs10Or5Or1AndBackgroundNever10() {
        for priority in [10, 5, 1] { #expect(reason(makePush(0, payload: payload(priority: priority))) == nil) }
        for priority in [0, 2, -1, 11] {
            #expect(reason(makePush(0, payload: payload(priority: priority))) == "BadPriority")
        }
        #expect(reason(makePush(0, payload: payload(type: .background))) == "BadPriority")
        #expect(reason(makePush(0, payload: payload(type: .background, priority: 5))) == nil)
    }

    @Test func collapseIDHas64BytesNotCharacters() {
        #expect(reason(makePush(0, payload: payload(collapseID: String(repeating: "c", count: 64)))) == nil)
        #expect(reason(makePush(0, payload: payload(collapseID: String(repeating: "é", count: 32)))) == nil)
        #expect(reason(makePush(0, payload: payload(collapseID: String(repeating: "é", count: 33)))) == "BadCollapseId")
        #expect(reason(makePush(0, payload: payload(collapseID: ""))) == "BadCollapseId")
    }

    // "Injection guard: refuse control characters and spaces in topic, collapse id, token and id."
    @Test(arguments: ["a\r\nx: y", "a\u{0}b", "a\nb", "a\u{7F}b"])
    func controlCharacterIsRefusedInEveryField(text: String) {
        #expect(reason(makePush(0, payload: payload(collapseID: text))) == "BadCollapseId")
        #expect(reason(makePush(0, topic: text)) == "BadTopic")
        #expect(reason(makePush(0, payload: payload(type: .unknown(text)))) == "InvalidPushType")
    }

    @Test func topicIsBounded() {
        #expect(reason(makePush(0, topic: "")) == "MissingTopic")
        #expect(reason(makePush(0, topic: "com.example.shop x")) == "BadTopic")
        #expect(reason(makePush(0, topic: String(repeating: "t", count: 257))) == "BadTopic")
    }

    @Test func unknownPushTypeWithACleanNamePasses() {
        #expect(reason(makePush(0, payload: payload(type: .unknown("newkind")))) == nil)
    }

    /// The table of docs/contracts/apns.md#6.
    @Test(
        arguments: [
            (.alert, "alert", ""), (.background, "background", ""), (.voip, "voip", ".voip"),
            (.complication, "complication", ".complication"), (.fileProvider, "fileprovider", ".pushkit.fileprovider"),
            (.mdm, "mdm", ""), (.location, "location", ".location-query"),
            (.liveActivity, "liveactivity", ".push-type.liveactivity"), (.pushToTalk, "pushtotalk", ".voip-ptt"),
            (.widgets, "widgets", ".push-type.widgets"), (.controls, "controls", ".push-type.controls"),
            (.unknown("newkind"), "newkind", ""),
        ] as [(PushType, String, String)]
    )
    func pushTypeHasApplesNameAndTopicSuffix(type: PushType, name: String, suffix: String) {
        #expect(type.wireName == name)
        #expect(type.rule.topicSuffix == suffix)
    }
}
