import AnswerShapes
import FoundationEssentials
import Model
import Testing

@testable import Store

/// The content of a message in the form in which it can be sent again.
struct SentContentTests {
    private func answer(_ content: Content, _ vendor: Vendor = .native, collapseID: String? = nil) -> JSON {
        let time = Timestamp(milliseconds: 1_800_000_000_000)
        let facts = MessageFacts(
            id: MessageID(rawValue: UUID()),
            scope: AppScope(app: "shop", vendor: vendor),
            sender: nil,
            submitter: nil,
            state: .done,
            lane: .bulk,
            content: content,
            fallback: nil,
            collapseID: collapseID,
            acceptedAt: time,
            dueAt: time,
            localDue: nil,
            expiresAt: time,
            dueDay: time.day,
            recipients: 1,
            funnel: Funnel(recipients: 1)
        )
        return NativeShapes.message.json(facts)["content"] ?? "absent"
    }

    @Test func everyMemberOfASendIsThere() {
        var content = Content(
            title: "Sale",
            subtitle: "Today",
            body: "Only today",
            badge: 3,
            sound: "bell",
            category: "offers",
            threadID: "sale",
            data: ["b": 1, "a": ["x"]],
            media: MediaReference(id: "m", hash: "00ff"),
            isUrgent: true,
            isSilent: true
        )
        content.consent = .all
        content.minAssurance = .vouched
        content.campaign = "winter"
        content.campaignVariant = "b"
        content.apns = ["pushType": "alert", "expiresAt": 1_800_000_000_000, "interruptionLevel": "passive"]
        let expected: JSON = [
            "title": "Sale", "subtitle": "Today", "body": "Only today", "badge": 3, "sound": "bell",
            "category": "offers", "threadId": "sale", "data": ["b": 1, "a": ["x"]], "image": "00ff", "urgent": true,
            "silent": true, "consent": "all", "minAssurance": "vouched", "campaign": "winter", "variant": "b",
            "apns": ["pushType": "alert", "interruptionLevel": "passive"], "collapseId": "c-1",
        ]
        #expect(answer(content, collapseID: "c-1") == expected)
        #expect(answer(Content(raw: ["aps": [:]]))["raw"] == ["aps": [:]])
    }

    /// An expiration of zero is an option, not a moment.
    @Test func aPushThatIsTriedOnceStaysOne() {
        var content = Content(title: "Hello", body: "x")
        content.apns = ["expiresAt": 0]
        #expect(answer(content)["apns"] == ["expiration": 0])
    }

    /// Defaults are left out, so that they stay those of the next send.
    @Test func aPlainMessageHasItsTextsAlone() {
        #expect(answer(Content(title: "Hello", body: "x")) == ["title": "Hello", "body": "x"])
    }

    @Test func aMessageOfAVendorsFormHasNone() {
        #expect(answer(Content(title: "Hello", body: "x"), .braze) == .null)
    }
}
