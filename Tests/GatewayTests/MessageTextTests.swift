import AnswerShapes
import FoundationEssentials
import Model
import Testing

@testable import Store
@testable import push_gateway

/// The text of a message whose back end wrote the payload, in answers and in the output of `message show`.
struct MessageTextTests {
    private static let time = Timestamp(milliseconds: 1_800_000_000_000)
    private static let id = MessageID(rawValue: UUID())
    private static let alert = Content(raw: ["aps": ["alert": ["title": "Sale", "body": "Only today"]]])

    private func facts(_ content: Content) -> MessageFacts {
        MessageFacts(
            id: Self.id,
            scope: AppScope(app: "shop", vendor: .notificationHubs),
            sender: nil,
            submitter: nil,
            state: .done,
            lane: .bulk,
            content: content,
            fallback: nil,
            collapseID: nil,
            acceptedAt: Self.time,
            dueAt: Self.time,
            localDue: nil,
            expiresAt: Self.time,
            dueDay: Self.time.day,
            recipients: 1,
            funnel: Funnel(recipients: 1)
        )
    }

    @Test func anAnswerShowsTheTextOfThePayload() {
        for answer in [
            NativeShapes.message.json(facts(Self.alert)), NativeShapes.messageSummary.json(facts(Self.alert)),
        ] {
            #expect(answer["title"] == "Sale" && answer["body"] == "Only today")
        }
    }

    @Test func aCallerWithoutTheScopeContentDoesNotSeeIt() {
        for answer in [
            NativeShapes.message.json(facts(Self.alert), withContent: false),
            NativeShapes.messageSummary.json(facts(Self.alert), withContent: false),
        ] {
            #expect(answer["title"] == nil && answer["body"] == nil)
            #expect(!JSONWriter.text(answer).contains("today"))
        }
    }

    @Test func anInboxShowsTheTextOfThePayload() {
        let notification = Notification(
            message: Self.id,
            origin: .notificationHubs,
            content: Self.alert,
            sentAt: Self.time
        )
        let item = InboxItem(
            entry: InboxEntry(notification: notification, sender: nil),
            delivery: DeliverySnapshot(
                message: Self.id,
                target: TargetID(rawValue: Self.id.rawValue),
                state: .sent
            ),
            app: "shop"
        )
        let answer = NativeShapes.inboxItem.json(item)
        #expect(answer["title"] == "Sale" && answer["body"] == "Only today")
        let hidden = NativeShapes.inboxItem.json(item, withContent: false)
        #expect(hidden["title"] == nil && hidden["body"] == nil)
    }

    @Test func theCommandShowsTitleAndText() {
        #expect(MessageCommand.Show.texts(of: Self.alert) == ["title: Sale", "text: Only today"])
        // No line end, no escape sequence of a terminal, and no change of the direction of what follows.
        let hostile = Content(body: "one\ntwo\u{1b}[2J\u{202E}3")
        #expect(MessageCommand.Show.texts(of: hostile) == ["text: one two\u{FFFD}[2J3"])
        #expect(MessageCommand.Show.texts(of: Content(isSilent: true)).isEmpty)
    }
}
