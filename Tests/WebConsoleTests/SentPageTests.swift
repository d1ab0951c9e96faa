import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct SentPageTests {
    private let page = SentPage()

    private func content(_ changes: JSONObject, _ language: Language = .en) throws -> PageContent {
        var message: JSONObject = [
            "id": .string(SendingWorld.message), "app": "shop", "state": "scheduled", "title": "Winter sale",
            "body": "Only today", "dueAt": "2026-11-23T05:05:07.000Z", "localDue": .null, "recipients": .null,
            "funnel": ["reached": 0],
        ]
        for (name, value) in changes.pairs { message[name] = value }
        let request = SendingWorld.request(language, path: ["message": SendingWorld.message])
        return try SendingWorld.content(page, request, ["message": SendingWorld.answer(.object(message))])
    }

    @Test func tenSecondsAreLeftToUndo() throws {
        let shown = try content([:])
        #expect(shown.sentence.text == "Sending starts in 7 seconds.")
        guard case .post("Undo", "compose/sent/\(SendingWorld.message)/undo", _, true, _) = shown.actions.first else {
            Issue.record("no undo")
            return
        }
        #expect(shown.live == [.message])
        #expect(try content([:], .ko).sentence.text == "7초 후 발신을 시작합니다.")
        let call = UndoForm().submit(
            SendingWorld.request(path: ["message": SendingWorld.message]),
            FormFields([]),
            Answers()
        ).call
        #expect(call?.path == "messages/\(SendingWorld.message)/cancel" && call?.method == .post)
    }

    /// Changes of the message, and the sentence.
    private static let states: [(JSONObject, String)] = [
        (["dueAt": "2026-11-23T05:04:59.000Z"], "Sending starts in 0 seconds."),
        (["dueAt": "2026-11-24T00:00:00.000Z"], "The message is scheduled for Tue 24 Nov 09:00 KST."),
        (
            ["localDue": "2026-11-24T09:00:00"],
            "The message is scheduled for Tue 24 Nov 09:00 in the time zone of each device."
        ),
        (["state": "expanding"], "Sending is in progress."), (["state": "sending"], "Sending is in progress."),
        (["state": "paused"], "Sending is paused."), (["state": "done"], "Sending is complete."),
        (["state": "canceled"], "The message was canceled. No notification was sent."),
        (
            ["state": "canceled", "funnel": ["reached": 1200]],
            "The message was canceled. 1,200 notifications had been sent before."
        ),
        (["state": "dead"], "Sending ended before all notifications were sent. The message states the reasons."),
        (
            ["state": "awaitingApproval"],
            "The message awaits the approval of another owner, because it has many recipients."
        ),
    ]

    @Test(arguments: states)
    func theSentenceFollowsTheState(changes: JSONObject, words: String) throws {
        let shown = try content(changes)
        #expect(shown.sentence.text == words)
        let isOpen = ["Sending starts", "The message is scheduled", "The message awaits"].contains {
            words.hasPrefix($0)
        }
        let undoes = shown.actions.contains { if case .post = $0 { true } else { false } }
        #expect(undoes == isOpen)
    }

    @Test func anUnknownMessageIsNotFound() {
        #expect(throws: PageFailure.self) {
            try SendingWorld.content(page, SendingWorld.request(path: ["message": "x"]), [:])
        }
    }

    @Test(arguments: SendingWorld.odd)
    func oddAnswersAreNoTrap(value: JSON) throws {
        for name in ["app", "state", "title", "body", "dueAt", "localDue", "recipients", "funnel"] {
            _ = try content([name: value])
        }
    }
}
