import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// A message ends with its last slice, whichever nodes finish its slices in which order.
@Suite struct StoreMessageEndTests {
    private func nodesFinishing(_ fixture: StoreFixture, _ message: NewMessage, settling: Bool) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in 0..<2 {
                group.addTask {
                    for number in [node, node + 2] {
                        var lease = fixture.lease(of: message)
                        lease.key.number = Int32(number)
                        lease.targets = message.targets.slices[number].targets
                        var progress = try await fixture.progress(lease, [0])
                        progress.settles = settling && number >= 2
                        _ = try await fixture.delivery.record(progress, by: fixture.node)
                    }
                    if !settling { try await fixture.delivery.settle(message.id, tenant: fixture.acme) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func four(_ fixture: StoreFixture) async throws -> NewMessage {
        let slices = (0..<4).map { NewSlice(number: Int32($0), work: .deliver, targets: [TargetID(UUID())]) }
        let message = try await fixture.message(slices: slices, recipients: 4)
        try await fixture.accept(message)
        return message
    }

    @Test(arguments: [true, false])
    func nodesThatFinishTheLastSlicesConcurrentlyEndTheMessage(settling: Bool) async throws {
        let fixture = try await StoreFixture.make()
        for _ in 0..<15 {
            let message = try await four(fixture)
            try await nodesFinishing(fixture, message, settling: settling)
            #expect(try await fixture.facts(message.id).state == .done)
        }
        let admin = try await fixture.database.admin()
        let open = try await admin.query(
            "SELECT count(*) AS count FROM gateway.message_open WHERE tenant_id = $1",
            [.text(fixture.acme.rawValue)]
        )
        #expect(try open.only().int("count") == 0)
    }

    @Test func aMessageThatACrashedNodeLeftOpenIsEnded() async throws {
        let fixture = try await StoreFixture.alone()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        let message = try await four(fixture)
        for number in 0..<4 {
            var lease = fixture.lease(of: message)
            lease.key.number = Int32(number)
            lease.targets = message.targets.slices[number].targets
            var progress = try await fixture.progress(lease, [0])
            progress.settles = false
            #expect(try await keeper.settle() == 0)
            _ = try await fixture.delivery.record(progress, by: fixture.node)
        }
        #expect(try await fixture.facts(message.id).state == .sending)
        #expect(try await keeper.settle() == 1)
        #expect(try await fixture.facts(message.id).state == .done)
    }

    @Test func aRepeatedFlushEndsTheMessageThatTheFirstOneLeftOpen() async throws {
        let fixture = try await StoreFixture.make()
        let (message, lease) = try await fixture.sending(to: [IdentityID(UUID())])
        var progress = try await fixture.progress(lease, [0])
        progress.settles = false
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        progress.settles = true
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(0))
        #expect(try await fixture.facts(message.id).state == .done)
    }
}
