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
}
