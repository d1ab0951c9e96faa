import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The unread messages of a device, as the native API counts them.
@Suite struct StoreUnreadTests {
    @Test func unreadCountsTheNewestMessagesOfADevice() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: String(repeating: "a", count: 64))
        let other = try await fixture.register("k2", token: String(repeating: "b", count: 64))
        var messages: [MessageID] = []
        for index in 0..<6 {
            let (message, lease) = try await fixture.sending(to: [device.identity])
            var progress = try await fixture.progress(lease, [0])
            for place in progress.results.indices { progress.results[place].device = device.device }
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            messages.append(message.id)
            #expect(try await fixture.devices.device(device.device, in: fixture.acme)?.unread == index + 1)
        }
        // Newest first: read, received, canceled, a duplicate, and two more.
        #expect(try await fixture.receipt(messages[5], "k1", .read) == .recorded)
        #expect(try await fixture.receipt(messages[4], "k1", .received) == .recorded)
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            UPDATE gateway.delivery SET state = 'canceled' WHERE message_id = '\(messages[3])';
            UPDATE gateway.delivery SET state = 'suppressed', reason = 'duplicate' WHERE message_id = '\(messages[2])';
            """
        )
        #expect(try await fixture.devices.device(device.device, in: fixture.acme)?.unread == 3)
        #expect(try await fixture.devices.device(other.device, in: fixture.acme)?.unread == 0)
        #expect(try await fixture.devices.device(device.device, in: fixture.other) == nil)
        func unread(ofTheNewest count: Int, in tenant: TenantID) async throws -> Int {
            let statement = DeviceSQL.unread(.id(tenant), .id(device.device), .int(count))
            return try await fixture.call.run(statement, tenant: tenant.rawValue).only().int("unread")
        }
        // The number of examined messages is bounded. Of the newest two messages, only the received one is unread.
        // counted.
        #expect(try await unread(ofTheNewest: 2, in: fixture.acme) == 1)
        #expect(try await unread(ofTheNewest: 1, in: fixture.acme) == 0)
        #expect(try await unread(ofTheNewest: 10, in: fixture.other) == 0)
        let page = try await fixture.devices.devices(in: fixture.acme, app: nil, after: nil, limit: 10)
        #expect(page.count == 2 && page.allSatisfy { $0.unread == nil })
    }
}
