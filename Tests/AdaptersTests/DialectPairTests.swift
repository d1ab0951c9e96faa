import Adapters
import Foundation
import Model
import Testing

/// docs/dialects.md against the adapters: what a message loses between each pair of dialects.
@Suite struct DialectPairTests {
    private static let vendors: [Vendor] = [.braze, .ipns, .notificationHubs, .rationalOwl, .upmc]

    private func adapter(_ vendor: Vendor) throws -> any VendorAdapter {
        try #require(VendorCatalog.product.byVendor[vendor])
    }

    private func notification(_ content: Content, from origin: Vendor) -> Model.Notification {
        Model.Notification(
            message: MessageID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
            origin: origin,
            content: content,
            sentAt: Timestamp(milliseconds: 1_790_000_000_000)
        )
    }

    private func target(_ vendor: Vendor) -> TargetFacts {
        let id = UUID(uuid: (16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1))
        return TargetFacts(
            target: TargetID(id),
            identity: IdentityID(id),
            device: DeviceID(id),
            app: "shop",
            vendor: vendor,
            key: "APNS:device",
            person: TargetPerson(user: "u", name: "Kim"),
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(stored: "aa01"),
                tokenState: .active
            )
        )
    }

    // MARK: Sending dialects

    private static let aps: JSONObject = [
        "alert": [
            "title": "t", "subtitle": "s", "body": "b", "title-loc-key": "T", "title-loc-args": ["1"], "loc-key": "L",
            "loc-args": ["2"], "action-loc-key": "A",
        ],
        "badge": 3, "sound": "ding", "category": "c", "thread-id": "th", "content-available": 1, "mutable-content": 1,
        "interruption-level": "passive", "relevance-score": .number("0.5"),
    ]

    /// A message of a dialect with every part that it can contain.
    private func richest(_ vendor: Vendor) -> Content {
        var content = Content(title: "t", body: "b")
        switch vendor {
        case .braze:
            content = Content(
                raw: .object([
                    "aps": .object(Self.aps), "ab": ["att": ["url": "https://x", "type": "png"]],
                    "ab_uri": "https://y", "ab_use_webview": true, "k": "v",
                ])
            )
            content.data = ["priority": 5]
        case .notificationHubs:
            var aps = Self.aps
            aps["alert"] = [
                "title": "t", "subtitle": "s", "body": "b", "title-loc-key": "T", "title-loc-args": ["1"],
                "subtitle-loc-key": "S", "subtitle-loc-args": ["1"], "loc-key": "L", "loc-args": ["2"],
                "action-loc-key": "A", "launch-image": "i",
            ]
            aps["sound"] = ["critical": 1, "name": "ding", "volume": 1]
            aps["target-content-id"] = "w"
            aps["filter-criteria"] = "f"
            content = Content(raw: .object(["aps": .object(aps), "k": "v"]))
            content.data = ["type": "alert", "priority": 5]
        case .upmc:
            content.page = PageReference(id: "p", name: "n")
            content.data = ["ext": "e", "sender": "s", "dbIn": "Y", "message": "t\nb", "batch": "Y"]
        default: content.data = ["k": "v"]
        }
        return content
    }

    private func lost(_ vendor: Vendor) throws -> [String] {
        try adapter(vendor).normalized(notification(richest(vendor), from: vendor), for: target(.native)).untranslated
    }

    // MARK: Receiving dialects

    private static let fields: [(name: String, set: @Sendable (inout Content) -> Void)] = [
        ("title", { $0.title = "title" }), ("subtitle", { $0.subtitle = "subtitle" }), ("badge", { $0.badge = 7 }),
        ("sound", { $0.sound = "ding" }), ("category", { $0.category = "category" }),
        ("thread", { $0.threadID = "thread" }), ("urgency", { $0.isUrgent = true }), ("data", { $0.data = ["k": "v"] }),
        ("image", { $0.media = MediaReference(id: "image", hash: "hash") }),
    ]

    /// The fields that do not change the payload of a dialect.
    private func hidden(_ vendor: Vendor) throws -> [String] {
        func payload(_ content: Content) throws -> [UInt8] {
            let settings = BindingSettings(tenant: "acme", app: "shop")
            let message = notification(content, from: .native)
            return try adapter(vendor).payload(for: message, to: target(vendor), settings: settings).bytes
        }
        let plain = Content(body: "body")
        return try Self.fields.filter { field in
            var content = plain
            field.set(&content)
            return try payload(content) == payload(plain)
        }.map(\.name)
    }

    // MARK: The page

    private static func page() throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/dialects.md")
        return try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
    }

    @Test func thePageListsEveryPair() throws {
        func cell(_ names: [String]) -> String {
            names.isEmpty ? "nothing" : names.map { "`\($0)`" }.joined(separator: ", ")
        }
        let rows = try Self.vendors.flatMap { from in
            try Self.vendors.filter { $0 != from }.map { to in
                "| \(from) | \(to) | \(cell(try lost(from))) | \(cell(try hidden(to))) |"
            }
        }
        #expect(rows.count == 20)
        let listed = try Self.page().split(separator: "\n").map(String.init).filter { line in
            Self.vendors.contains { line.hasPrefix("| \($0) |") }
        }
        #expect(listed == rows, "docs/dialects.md has other rows; these are right:\n\(rows.joined(separator: "\n"))")
    }

    // MARK: Translation

    @Test(arguments: vendors.flatMap { from in vendors.filter { $0 != from }.map { (from, $0) } })
    func theTextsArriveInEveryDialect(_ from: Vendor, _ to: Vendor) throws {
        var content = richest(from)
        if from != .braze, from != .notificationHubs { content.body = "the text" }
        if let raw = content.raw?.object {
            var document = raw
            document["aps"] = ["alert": ["title": "a title", "body": "the text"]]
            content.raw = .object(document)
        }
        let message = notification(content, from: from)
        let (translated, _) = try message.translated(for: target(to), by: adapter(from))
        let settings = BindingSettings(tenant: "acme", app: "shop")
        let payload = try adapter(to).payload(for: translated, to: target(to), settings: settings)
        let text = String(decoding: payload.bytes, as: UTF8.self)
        #expect(text.contains("the text"), "\(text)")
        // The own keys of the sending dialect stay behind.
        #expect(to == .braze || !text.contains("\"ab\":"), "\(text)")
        #expect(!text.contains("ab_uri") && !text.contains("dbIn"), "\(text)")
    }

    @Test func aMessageWithinItsDialectIsNotTranslated() throws {
        let message = notification(richest(.braze), from: .braze)
        let (same, reduced) = try message.translated(for: target(.braze), by: adapter(.braze))
        #expect(same == message && reduced.isEmpty)
        let native = notification(richest(.braze), from: .native)
        #expect(try native.translated(for: target(.ipns), by: adapter(.native)).0 == native)
    }

    @Test func placeholdersAreFilledForTheTarget() throws {
        var content = Content(title: "%CNAME%", body: "%VAR1%")
        content.isTemplate = true
        var facts = target(.ipns)
        facts.variables = ["VAR1": "ten"]
        let normalized = try adapter(.upmc).normalized(notification(content, from: .upmc), for: facts).content
        #expect(normalized.title == "Kim" && normalized.body == "ten" && !normalized.isTemplate)
        var braze = Content(raw: ["aps": ["alert": "Hi {{${first_name}}}"]])
        braze.isTemplate = true
        facts.person.attributes = ["first_name": "Lee"]
        let rendered = try adapter(.braze).normalized(notification(braze, from: .braze), for: facts).content
        #expect(rendered.body == "Hi Lee" && rendered.raw == nil && !rendered.isTemplate)
    }

    @Test func aSendByTemplateStaysInItsDialect() throws {
        var content = Content(raw: ["k": "v"])
        content.variants = TagTerms(try TagExpression("a"))
        #expect(throws: AdapterError.self) {
            try adapter(.notificationHubs).normalized(
                notification(content, from: .notificationHubs),
                for: target(.ipns)
            )
        }
    }
}
