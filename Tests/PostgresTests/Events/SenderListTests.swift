import DatabaseSupport
import Model
import PostgresClient
import Testing

@testable import AudienceStore
@testable import ObservationStore
@testable import Store

/// The list of the back ends of an app.
@Suite struct SenderListTests {
    @Test func sendersAreListedByVendorAndName() async throws {
        let fixture = try await StoreFixture.make()
        let app = fixture.scope.app
        func register(_ name: String, _ id: SenderID, _ vendor: Vendor, isProven: Bool = false) async throws {
            let scope = AppScope(app: app, vendor: vendor)
            _ = try await fixture.ask(RegisterSender(scope, name: name, id: id, isProven: isProven))
        }
        try await register("b:2", "SVR-2", .rationalOwl)
        try await register("a", "SVR-1", .rationalOwl, isProven: true)
        try await register("z", "SVR-3", .braze)
        let scope = AppScope(app: app, vendor: .rationalOwl)
        _ = try await fixture.ask(EnrolSender(scope, "SVR-2", key: "secret-key", name: "bank 1", address: "10.20.0.7"))
        func list(_ after: ListedSender.Place? = nil, limit: Int = 10) async throws -> [ListedSender] {
            try await fixture.ask(ListSenders(app, after: after, limit: limit))
        }
        let all = try await list()
        #expect(all.map(\.name) == ["z", "a", "b:2"])
        #expect(all.map(\.id) == ["SVR-3", "SVR-1", "SVR-2"] && all.map(\.isProven) == [false, true, false])
        let enrolled = try #require(all.last)
        #expect(enrolled.isEnrolled && enrolled.enrolledName == "bank 1" && enrolled.address == "10.20.0.7")
        #expect(!String(describing: all).contains("secret-key"))
        #expect(all.dropLast().allSatisfy { !$0.isEnrolled && $0.callbackURL == nil && $0.failures == 0 })
        // A page continues behind the place of the one before, also in another vendor and behind a colon.
        var names: [String] = []
        var place: ListedSender.Place?
        for _ in 0..<4 {
            let page = try await list(place, limit: 1)
            names += page.map(\.name)
            place = page.last.flatMap { ListedSender.Place(text: $0.place.text) } ?? place
        }
        #expect(names == ["z", "a", "b:2"])
        #expect(ListedSender.Place(text: "braze") == nil)
        let other = try await fixture.ask(ListSenders(app, after: nil, limit: 10), in: fixture.other)
        #expect(other.isEmpty, "another tenant's app of this name")
        #expect(try await fixture.ask(ListSenders("none", after: nil, limit: 10)).isEmpty, "another app")
    }

    /// A callback that failed is shown with its reason.
    @Test func theStateOfCallbacksIsListed() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.ask(RegisterSender(fixture.scope, name: "bank", id: "SVR-1"))
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            """
            UPDATE gateway.sender SET callback_url = 'https://bank.example/events', attempts = 3, failing_since = now(), failure = 'HTTP 503'
            WHERE tenant_id = $1
            """,
            [.id(fixture.acme)]
        )
        await admin.close()
        let sender = try #require(try await fixture.ask(ListSenders(fixture.scope.app, after: nil, limit: 10)).first)
        #expect(sender.callbackURL == "https://bank.example/events" && sender.failures == 3)
        #expect(sender.failingSince != nil && sender.failure == "HTTP 503")
    }
}
