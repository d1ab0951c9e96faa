import DatabaseSupport
import Model
import Testing

@testable import Store

/// The search by text in messages whose back end wrote the payload itself, with the payloads of docs/contracts/notificationhubs.md.
@Suite struct StoreTextSearchTests {
    private let scope = AppScope(app: "shop", vendor: .notificationHubs)

    private func accept(_ fixture: StoreFixture, _ content: Content) async throws -> MessageID {
        let message = try await fixture.message(content: content, scope: scope)
        #expect(try await fixture.accept(message) == .inserted)
        return message.id
    }

    private func found(_ fixture: StoreFixture, _ text: String) async throws -> Set<MessageID> {
        let filter = MessageFilter(app: "shop", text: text)
        let page = try await fixture.queries.messages(in: fixture.acme, filter, after: nil, limit: 100)
        return Set(page.items.map(\.id))
    }

    @Test func anAlertIsFoundInTheVendorsPayload() async throws {
        let fixture = try await StoreFixture.make()
        let plain = try await accept(
            fixture,
            Content(raw: ["aps": ["alert": "Sale today", "sound": "default"], "city": "Seoul"])
        )
        let detailed = try await accept(
            fixture,
            Content(raw: ["aps": ["alert": ["title": "SALE", "body": "Only tomorrow"]]])
        )
        #expect(try await found(fixture, "sale") == [plain, detailed])
        #expect(try await found(fixture, "today") == [plain])
        #expect(try await found(fixture, "seoul").isEmpty, "a key of the app is not a text of the message")
    }

    @Test func theValuesForTemplatesAreFoundAndTheirNamesAreNot() async throws {
        let fixture = try await StoreFixture.make()
        var content = Content(raw: ["name": "Mina", "count": 3, "city": "Seoul"])
        content.variants = TagTerms(try TagExpression("vip"))
        let filling = try await accept(fixture, content)
        // Without variants the same object is a payload without an alert.
        let other = try await accept(fixture, Content(raw: ["name": "Mina"]))
        #expect(try await found(fixture, "MINA") == [filling])
        #expect(try await found(fixture, "3\nSeoul") == [filling])
        for text in ["name", "city", "variants", "vip"] { #expect(try await found(fixture, text).isEmpty, "\(text)") }
        #expect(try await fixture.facts(other).content.variants == nil)
    }

    // An object is not required of a stored payload.
    @Test func aPayloadOfAnotherFormEndsNoSearch() async throws {
        let fixture = try await StoreFixture.make()
        var content = Content(body: "Parcel", raw: ["Mina"])
        content.variants = TagTerms(try TagExpression("vip"))
        let message = try await accept(fixture, content)
        #expect(try await found(fixture, "parcel") == [message])
        #expect(try await found(fixture, "mina").isEmpty)
    }
}
