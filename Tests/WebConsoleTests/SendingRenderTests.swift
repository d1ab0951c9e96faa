import Foundation
import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleAudience
@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// The pages that send, written as HTML in both languages.
struct SendingRenderTests {
    private let renderer: Renderer

    init() throws {
        renderer = try Renderer.bundled(isStrict: true)
    }

    private static let typed = [
        ("app", "shop"), ("audience", "everyone"), ("title", "겨울 세일 시작"), ("body", "#{이름}님, 오늘만 30% 할인"),
        ("var-이름", "김"),
        ("when", "now"), ("_form", "compose/review"),
    ]

    private static let push: JSON = [
        "bytes": 239, "limit": 4096, "reduced": [], "refused": .null,
        "payload": ["aps": ["alert": ["body": "오늘만 30% 할인"]]],
    ]

    private static let template: JSON = [
        "name": "winter", "app": "shop", "revision": 3, "changedBy": "account:lee",
        "changedAt": "2026-11-23T05:02:00.000Z", "content": ["title": "세일", "body": "Line 1\nLine 2"],
    ]

    private static let message: JSON = [
        "id": .string(SendingWorld.message), "app": "shop", "state": "scheduled", "title": "겨울 세일", "body": "오늘만",
        "dueAt": "2026-11-23T05:05:07.000Z", "recipients": 250_000, "submittedBy": "account:lee",
    ]

    private static let table: [String: APIAnswer] = [
        "apps": SendingWorld.answer(["apps": [["app": "shop"], ["app": "news"]]]),
        "groups": SendingWorld.answer(["groups": [["group": "early birds"]]]),
        "templates": SendingWorld.answer(["templates": [template, ["name": "draft-1", "content": [:]]], "next": "x"]),
        "size": SendingWorld.answer(["count": 1_204_331, "precision": "about"]),
        "preview": SendingWorld.answer(["previews": ["native": push, "braze": ["error": "x"]]]),
        "tests": SendingWorld.answer(["members": 2]),
        "template": SendingWorld.answer(template, tag: "\"3\""), "message": SendingWorld.answer(message),
        "messages": SendingWorld.answer(["messages": [message], "next": .null, "searchedTo": .null]),
        "members": SendingWorld.answer(["members": [["user": "u-1"], ["user": "•••"]], "next": .null]),
        "end": SendingWorld.answer([], head: 10),
        "events": SendingWorld.answer([
            [
                "offset": 1, "kind": "sent", "at": "2026-11-23T05:04:07.204Z", "app": "shop", "vendor": "native",
                "message": "m", "target": "t",
            ]
        ]),
    ]

    /// Each page with the queries and typed fields of its states.
    private static let states: [(any ConsolePage, String, [(String, String)], [(String, String)])] = [
        (ComposePage(), "compose", [], []), (ComposePage(), "compose", [("template", "winter")], []),
        (ComposePage(), "compose", [], typed), (ComposePage(), "compose", [], [("app", "shop"), ("when", "at")]),
        (ComposePage(), "compose", [], typed.dropLast() + [("_form", "compose/preview")]),
        (ComposePage(), "compose", [], typed + [("image", String(repeating: "5f", count: 32))]),
        (SentPage(), "compose/sent/\(SendingWorld.message)", [], []), (TemplatesPage(), "templates", [], []),
        (TemplatePage(), "templates/shop/winter", [], []),
        (TemplatePage(), "templates/shop/winter", [], [("title", "세일"), ("body", "Mine"), ("revision", "\"2\"")]),
        (TestDevicesPage(), "test-devices", [], []), (ApprovalsPage(), "approvals", [], []),
        (LivePage(), "live", [("kind", "receipts")], []), (LivePage(), "live", [("pause", "1")], []),
    ]

    private func html(_ index: Int, _ language: Language, _ table: [String: APIAnswer]) throws -> String {
        let (page, path, query, typed) = Self.states[index]
        var request = SendingWorld.request(language, query: query, typed: typed)
        request.path = ["app": "shop", "template": "winter", "message": SendingWorld.message]
        if !typed.isEmpty { request.errors = FieldErrors(["title": "x", "": "y"]) }
        let content = try SendingWorld.content(page, request, table)
        return String(decoding: renderer.page(content, request, path: path), as: UTF8.self)
    }

    @Test(arguments: states.indices, Language.allCases)
    func eachStateIsWrittenWithoutAFault(index: Int, language: Language) throws {
        let page = try html(index, language, Self.table)
        #expect(!page.contains(Renderer.faultMark), "\(page)")
        try Wellformed.check(page)
        // To look at: the pages of a run are kept where this variable says.
        if let folder = ProcessInfo.processInfo.environment["CONSOLE_PAGES"] {
            let file = URL(filePath: folder).appending(path: "\(index)-\(language.rawValue).html")
            try page.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    @Test(arguments: states.indices, Language.allCases)
    func eachEmptyStateIsWrittenWithoutAFault(index: Int, language: Language) throws {
        let empty: [String: APIAnswer] = [
            "apps": SendingWorld.answer(["apps": [["app": "shop"]]]),
            "templates": SendingWorld.answer(["templates": []]),
            "messages": SendingWorld.answer(["messages": []]), "message": SendingWorld.answer([:]),
            "end": SendingWorld.answer([], head: 0), "events": SendingWorld.answer([]),
        ]
        let page = try html(index, language, empty)
        #expect(!page.contains(Renderer.faultMark), "\(page)")
        try Wellformed.check(page)
    }
}
