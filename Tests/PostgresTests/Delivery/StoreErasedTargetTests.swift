import DatabaseSupport
import DeliveryEngine
import FoundationEssentials
import Model
import PostgresClient
import TestKit
import Testing

@testable import EngineStore
@testable import Store

/// Devices that are erased while their pushes are being sent.
@Suite struct StoreErasedTargetTests {
    // The device has an inbox, into which the flush puts what was sent.
    @Test func aFlushSucceedsWithoutTheErasedDevice() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let first = try await fixture.register("a", token: "aa")
        let second = try await fixture.register("b", token: "bb")
        let (message, lease) = try await fixture.sending(to: [first.identity, second.identity])
        _ = try await fixture.erase(first.device, in: fixture.acme, by: .key("k"))
        var progress = try await fixture.progress(lease, [0, 1])
        for index in progress.results.indices { progress.results[index].dialect = .ipns }
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(2))
        let open = try await admin.query(
            "SELECT string_agg(identity_id::text, ' ') AS identities FROM gateway.inbox_open WHERE message_id = $1",
            [.uuid(message.id.rawValue)]
        )
        #expect(try open.only().text("identities") == second.identity.rawValue.uuidString.lowercased())
        await admin.close()
    }

    // The outcome names the device and its user, as the node read them before the erasure.
    @Test func aLateOutcomeBecomesAnonymous() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let first = try await fixture.register("a", token: "aa")
        let second = try await fixture.register("b", token: "bb")
        let (message, lease) = try await fixture.sending(to: [first.identity, second.identity])
        var progress = try await fixture.progress(lease, [0, 1])
        for index in progress.results.indices { progress.results[index].user = index == 0 ? "anna" : "ben" }
        _ = try await fixture.erase(first.device, in: fixture.acme, by: .key("k"))
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(2))
        #expect(try await named(message.id, admin) == "anna ben")
        #expect(try await late(admin) == 0)

        _ = try await admin.query("UPDATE gateway.erased_identity SET next_at = now()")
        #expect(try await late(admin) == 1)
        #expect(try await named(message.id, admin) == "ben")
        // It is searched again later, and for the last time after a day.
        #expect(try await waiting(admin) == 1)
        _ = try await admin.query(
            "UPDATE gateway.erased_identity SET next_at = now(), erased_at = now() - interval '25 hours'"
        )
        #expect(try await late(admin) == 1)
        #expect(try await waiting(admin) == 0)
        await admin.close()
    }

    // The slice names the person by the address of the call. Without facts of the target, the engine writes an outcome without it.
    @Test func aTargetThatIsErasedBeforeItsSliceIsLoadedHasNoFacts() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("a", token: "aa", phone: "0101")
        let second = try await fixture.register("b", token: "bb", phone: "0102")
        let (_, lease) = try await fixture.sending(
            to: [first.identity, second.identity],
            addresses: [.phone("0101"), .phone("0102")]
        )
        _ = try await fixture.erase(first.device, in: fixture.acme, by: .key("k"))
        let work = try #require(try await fixture.delivery.load(lease))
        #expect(Set(work.targets.keys) == [1])
    }

    private func late(_ admin: PostgresConnection) async throws -> Int {
        try await admin.query("SELECT gateway.erase_late('acme', 100) AS count").only().int("count")
    }

    private func waiting(_ admin: PostgresConnection) async throws -> Int {
        try await admin.query("SELECT count(*) AS count FROM gateway.erased_identity").only().int("count")
    }

    /// The users of the deliveries that name a device.
    private func named(_ message: MessageID, _ admin: PostgresConnection) async throws -> String {
        try await admin.query(
            """
            SELECT coalesce(string_agg(user_id, ' ' ORDER BY user_id), '') AS users FROM gateway.delivery
            WHERE message_id = $1 AND identity_id IS NOT NULL
            """,
            [.uuid(message.rawValue)]
        ).only().text("users")
    }
}
