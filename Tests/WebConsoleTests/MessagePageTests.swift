import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct MessagePageTests {
    private let page = MessagePage()
    private static let id = "0198a1f0-7c00-7000-8000-000000000001"

    private func message(
        _ state: String,
        recipients: Int = 100,
        reached: Int = 97,
        failed: Int = 2,
        suppressed: Int = 1,
        dead: String = "[]",
        by: String = "key:crm"
    ) throws -> JSON {
        try ReadPages.json(
            """
            {"id": "\(Self.id)", "app": "shop", "vendor": "native", "state": "\(state)", "submittedBy": "\(by)", "title": "Sale", "body": "30 %",
            "campaign": "winter", "acceptedAt": "2026-11-22T05:02:00.000Z", "dueAt": "2026-11-22T05:02:07.000Z", "recipients": \(recipients),
            "funnel": {"recipients": \(recipients), "reached": \(reached), "received": 50, "read": 10, "failed": \(failed), "suppressed": \(suppressed),
            "expired": 0, "canceled": 0}, "dead": \(dead)}
            """
        )
    }

    private func delivery(_ state: String, _ reason: String?, milliseconds: Int = 100) -> String {
        """
        {"target": "t", "state": "\(state)", "reason": \(reason.map { "\"\($0)\"" } ?? "null"), "sentAt": "2026-11-22T05:02:07.000Z",
        "receivedAt": \(state == "received" ? "\"2026-11-22T05:02:08.500Z\"" : "null"), "transportMilliseconds": \(milliseconds)}
        """
    }

    private func sample() throws -> JSON {
        let rows =
            Array(repeating: delivery("sent", nil), count: 47) + Array(repeating: delivery("received", nil), count: 50)
            + [
                delivery("failed", "Unregistered", milliseconds: 900), delivery("failed", "Unregistered"),
                delivery("suppressed", "preference"),
            ]
        return try ReadPages.json("{\"deliveries\": [\(rows.joined(separator: ","))], \"next\": null}")
    }

    private func content(_ message: JSON, role: Role = .owner, _ language: Language = .en) throws -> PageContent {
        let request = ReadPages.request(["message": Self.id], role: role, language)
        return try ReadPages.content(page, request, ["message": message, "sample": try sample()])
    }

    @Test(arguments: [
        ("scheduled", Mark.info, "It will be sent to 100 targets on Sun 22 Nov 14:02"),
        ("expanding", .info, "The recipients are being determined"), ("awaitingApproval", .warn, "awaits an approval"),
        ("sending", .info, "Outcomes: 100 of 100 targets."), ("paused", .warn, "Paused at 100.0%"),
        ("canceled", .idle, "97 notifications were accepted before"),
        ("expired", .bad, "expired before it was sent"), ("observed", .idle, "Another system sent this message"),
        (
            "done", .ok,
            "APNs accepted 97 of 100 notifications (97.0%). Most frequent reason for the others: Unregistered, 2."
        ),
    ])
    func theStateIsTheAnswer(_ state: String, _ mark: Mark, _ text: String) throws {
        let sentence = try content(try message(state)).sentence
        #expect(sentence.mark == mark)
        #expect(sentence.text.contains(text), "\(sentence.text)")
    }

    @Test func givenUpTargetsAreTheAnswerInEachOpenState() throws {
        let dead =
            #"[{"reason": "InvalidProviderToken", "slices": 1, "targets": 40}, {"reason": "Forbidden", "slices": 1, "targets": 2}]"#
        for state in ["sending", "paused", "dead"] {
            let sentence = try content(try message(state, dead: dead)).sentence
            #expect(sentence.mark == .bad)
            #expect(
                sentence.text.contains("stopped retrying 42 targets. APNs cannot verify the provider token"),
                "\(sentence.text)"
            )
        }
    }

    @Test func aMessageThatReachedNobodyIsAProblem() throws {
        let none = try content(try message("done", reached: 0, failed: 99)).sentence
        #expect(none.mark == .bad && none.text.contains("APNs accepted none of 100 notifications."))
        #expect(none.link?.path == "messages/\(Self.id)/deliveries")
        let empty = try content(try message("done", recipients: 0, reached: 0, failed: 0, suppressed: 0)).sentence
        #expect(empty.mark == .warn && empty.text.contains("contained no target"))
    }

    @Test func lossesLeadToTheirRows() throws {
        let tables = ReadPages.tables(try content(try message("done")))
        let losses = try #require(tables.first)
        let links = ReadPages.links(losses)
        #expect(links.map(\.label) == ["Unregistered", "preference"])
        #expect(links.first?.query == [.init("state", "failed"), .init("reason", "Unregistered")])
        #expect(ReadPages.words(try content(try message("done"))).contains("The app was removed from the device"))
    }

    @Test func latenciesArePercentilesOfTheDeliveries() throws {
        let words = ReadPages.words(try content(try message("done")))
        #expect(words.contains("\"100 ms\"") && words.contains("1.5 s"))
        #expect(MessageDeliveries.percentile([], 0.5) == nil)
        #expect(MessageDeliveries.percentile([1, 2, 3, 4], 0.5) == 2)
        #expect(MessageDeliveries.percentile([1, 2, 3, 4], 1) == 4)
    }

    @Test func aLargeMessageIsAskedByState() throws {
        let large = try message("done", recipients: 1_000_000, reached: 900_000, failed: 90_000, suppressed: 10_000)
        let request = ReadPages.request(["message": Self.id])
        let calls = try ReadPages.answers(page, request) { call in
            call.name == "message" ? ReadPages.answer(large) : ReadPages.answer(try sample())
        }.calls
        #expect(calls.map(\.name) == ["message", "sample", "failed", "suppressed"])
        #expect(calls.dropFirst(2).map { ReadPages.value("state", $0) } == ["failed", "suppressed"])
    }

    // MARK: Actions

    @Test(arguments: [
        ("sending", ["Pause message", "Cancel message"]), ("paused", ["Resume message", "Cancel message"]),
        ("done", []), ("canceled", []), ("awaitingApproval", ["Cancel message"]),
    ])
    func actionsFollowTheState(_ state: String, _ actions: [String]) throws {
        let always = ["Duplicate message", "Deliveries"]
        #expect(ReadPages.actions(try content(try message(state))) == actions + always)
        #expect(ReadPages.actions(try content(try message(state), role: .analyst)) == ["Deliveries"])
    }

    @Test func authorsActOnTheirOwnMessages() throws {
        #expect(
            ReadPages.actions(try content(try message("sending"), role: .author)) == [
                "Duplicate message", "Deliveries",
            ]
        )
        let own = ReadPages.actions(try content(try message("sending", by: "account:kim"), role: .author))
        #expect(own.first == "Pause message")
    }

    /// Follows the link to the compose page, as a browser does.
    @Test func aDuplicateHasTheContentAndTheAppOfTheMessage() throws {
        let original = try message("done")
        let links = try content(original).actions.compactMap { action -> Link? in
            guard case .link(let link, _) = action, link.label == "Duplicate message" else { return nil }
            return link
        }
        let link = try #require(links.first)
        #expect(link.path == ComposePage().path)
        var request = ReadPages.request()
        request.query = link.query
        let bodies: [String: JSON] = ["apps": ["apps": [["app": "other"], ["app": "shop"]]], "source": original]
        let compose = try ReadPages.content(ComposePage(), request, bodies)
        let form = try #require(compose.form("compose/review"))
        #expect(form.value("app") == "shop" && form.value("title") == "Sale" && form.value("body") == "30 %")
    }

    @Test func cancelingIsAskedAgain() throws {
        let form = MessageForm(action: .cancel)
        var request = ReadPages.request(["message": "a/b"])
        guard case .show = form.submit(request, ReadPages.fields(["ask": "cancel"]), Answers()) else {
            Issue.record("canceled at once")
            return
        }
        let call = form.submit(request, ReadPages.fields(["confirmed": "yes"]), Answers()).call
        #expect(call?.path == "messages/a%2Fb/cancel" && call?.method == .post)
        request.typed = ReadPages.fields(["ask": "cancel"])
        request.path = ["message": Self.id]
        let content = try ReadPages.content(
            page,
            request,
            ["message": try message("sending", reached: 40, failed: 0, suppressed: 0), "sample": try sample()]
        )
        #expect(ReadPages.words(content).contains("The 60 targets without a notification so far"))
    }

    @Test func theNoticeSaysWhetherAnythingChanged() {
        let form = MessageForm(action: .pause)
        let request = ReadPages.request()
        guard case .back(let changed) = form.result(request, FormFields([]), ReadPages.answer(["changed": true])),
            case .back(let unchanged) = form.result(request, FormFields([]), ReadPages.answer(["changed": false])),
            case .invalid = form.result(request, FormFields([]), ReadPages.problem(409))
        else {
            Issue.record("no notice")
            return
        }
        #expect(changed == MessagePageText.paused && unchanged == MessagePageText.unchanged)
    }

    @Test func anUnknownMessageIsNotFound() {
        #expect(throws: PageFailure.self) { try ReadPages.content(page, ReadPages.request(["message": "x"]), [:]) }
    }

    // MARK: Rows

    @Test func rowsOfAReasonArePickedFromThePage() throws {
        let rows = #"""
            {"deliveries": [{"target": "0198a1f0-0000-7000-8000-000000000001", "state": "failed", "reason": "Unregistered", "device": "d-1", "address": "key:phone-1"},
            {"target": "0198a1f0-0000-7000-8000-000000000002", "state": "failed", "reason": "BadDeviceToken"}], "next": null}
            """#
        let request = ReadPages.request(["message": Self.id], ["state": "failed", "reason": "Unregistered"])
        let bodies = ["message": try message("done"), "deliveries": try ReadPages.json(rows)]
        let content = try ReadPages.content(DeliveriesPage(), request, bodies)
        let table = try #require(ReadPages.tables(content).first)
        #expect(table.rows.count == 1)
        let links = ReadPages.links(table)
        #expect(links.first?.path == "messages/\(Self.id)/deliveries/0198a1f0-0000-7000-8000-000000000001")
        #expect(links.last?.path == "devices/d-1/diagnosis")
        #expect(content.sentence.text.contains("A new token is registered the next time the app opens."))
    }

    @Test func aFullPageOfAReasonContinuesBehindItsLastRow() throws {
        let rows = (0..<60).map { "{\"target\": \"t-\($0)\", \"state\": \"failed\", \"reason\": \"Unregistered\"}" }
        let body = try ReadPages.json("{\"deliveries\": [\(rows.joined(separator: ","))], \"next\": \"t-59\"}")
        let request = ReadPages.request(["message": Self.id], ["reason": "Unregistered"])
        let bodies = ["message": try message("done"), "deliveries": body]
        let table = try #require(ReadPages.tables(try ReadPages.content(DeliveriesPage(), request, bodies)).first)
        #expect(table.rows.count == 50)
        #expect(table.next?.query.last == PageRequest.Parameter("after", "t-49"))
    }
}
