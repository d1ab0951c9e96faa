import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleAudience
@testable import PageParts
@testable import WebConsole

struct ApprovalsPageTests {
    private func content(_ messages: [JSON], next: JSON = .null, searchedTo: JSON = .null) throws -> PageContent {
        let answer = SendingWorld.answer(["messages": .array(messages), "next": next, "searchedTo": searchedTo])
        return try SendingWorld.content(ApprovalsPage(), SendingWorld.request(), ["messages": answer])
    }

    private static func message(by sender: JSON) -> JSON {
        [
            "id": .string(SendingWorld.message), "app": "shop", "state": "awaitingApproval", "submittedBy": sender,
            "title": "Winter sale", "recipients": 250_000, "dueAt": "2026-11-23T05:10:00.000Z",
        ]
    }

    private static func buttons(_ content: PageContent) -> [String] {
        content.tables.flatMap(\.rows).flatMap { row -> [Action] in
            if case .actions(let actions) = row.cells.last { return actions }
            return []
        }.compactMap { action in
            if case .post(_, let path, _, _, _) = action { return path }
            return nil
        }
    }

    @Test func onlyAnotherPersonApproves() throws {
        let other = try content([Self.message(by: "account:lee")])
        #expect(other.sentence.text == "1 message awaits an approval. It is not sent before.")
        #expect(Self.buttons(other) == ["approvals/approve", "approvals/reject"])
        let own = try content([Self.message(by: "account:kim")])
        #expect(Self.buttons(own) == ["approvals/reject"])
        #expect(Self.buttons(try content([Self.message(by: .null)])).count == 2)
    }

    @Test func theSentenceStatesHowFarTheSearchWent() throws {
        #expect(try content([]).sentence.text == "No message awaits an approval.")
        let part = try content([], next: "abc", searchedTo: "2026-11-20T00:00:00.000Z")
        #expect(part.sentence.text.contains("searched back to Fri 20 Nov 09:00") && part.tables.first?.next != nil)
        let more = try content([Self.message(by: "key:a"), Self.message(by: "key:b")], next: "abc")
        #expect(more.sentence.text == "2+ messages await an approval. They are not sent before.")
    }

    @Test func decisionsAreCallsOfTheMessage() throws {
        let fields = SendingWorld.fields([("message", SendingWorld.message)])
        let approve = ApproveForm().submit(SendingWorld.request(), fields, Answers()).call
        let reject = RejectForm().submit(SendingWorld.request(), fields, Answers()).call
        #expect(approve?.path == "messages/\(SendingWorld.message)/approve")
        #expect(reject?.path == "messages/\(SendingWorld.message)/cancel")
        let done = ApproveForm().result(SendingWorld.request(), fields, SendingWorld.answer(["changed": false]))
        #expect(done.notice == ApprovalText.nothing)
        #expect(ApproveForm().permission == .administer && ApprovalsPage().permission == .administer)
    }

    @Test(arguments: SendingWorld.odd)
    func oddAnswersAreNoTrap(value: JSON) throws {
        _ = try content(
            [value, ["id": value], ["id": "x", "title": value, "recipients": value, "dueAt": value]],
            next: value
        )
        _ = try SendingWorld.content(ApprovalsPage(), SendingWorld.request(), ["messages": SendingWorld.answer(value)])
    }
}

struct TestDevicesPageTests {
    private func content(_ members: APIAnswer) throws -> PageContent {
        let table = ["apps": SendingWorld.answer(SendingWorld.apps), "members": members]
        return try SendingWorld.content(TestDevicesPage(), SendingWorld.request(), table)
    }

    @Test func aMissingGroupIsEmpty() throws {
        let empty = try content(SendingWorld.problem(404, "PG-1004"))
        #expect(empty.sentence.text == "This app has no test devices." && empty.tables.first?.empty != nil)
        #expect(throws: PageFailure.self) { try content(SendingWorld.problem(503, "PG-2001")) }
    }

    @Test func membersAreRemovedUnlessTheirNamesAreMasked() throws {
        let shown = try content(
            SendingWorld.answer(["members": [["user": "u-1"], ["user": "u-••••"]], "next": .null])
        )
        #expect(shown.sentence.text == "2 users receive tests of shop.")
        let cells = shown.tables.flatMap(\.rows).compactMap(\.cells.last)
        guard cells.count == 2, case .actions = cells[0], case .none = cells[1] else {
            Issue.record("\(cells)")
            return
        }
    }

    @Test func theGroupIsCreatedBeforeItsFirstUser() throws {
        let fields = SendingWorld.fields([("app", "shop"), ("user", " u-1 ")])
        let form = AddTestUserForm()
        #expect(form.calls(SendingWorld.request(), fields, Answers()).map(\.path) == ["apps/shop/groups/test-devices"])
        let answers = Answers(["group": SendingWorld.answer([:], status: 201)])
        #expect(form.calls(SendingWorld.request(), fields, answers).isEmpty)
        let call = form.submit(SendingWorld.request(), fields, answers).call
        #expect(call?.body == ["add": ["u-1"]] && call?.path == "apps/shop/groups/test-devices/members")
        let full = Answers(["group": SendingWorld.problem(409, "PG-1012")])
        #expect(form.submit(SendingWorld.request(), fields, full).errors != nil)
        #expect(
            form.submit(SendingWorld.request(), SendingWorld.fields([("app", "shop"), ("user", " ")]), Answers())
                .errors?["user"] != nil
        )
    }
}
