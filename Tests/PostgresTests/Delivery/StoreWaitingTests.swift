import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The messages that wait for a device, in its diagnosis (`waiting_messages`).
@Suite struct StoreWaitingTests {
    private func facts(_ fixture: StoreFixture, _ device: DeviceID) async throws -> DiagnosisFacts {
        try #require(try await fixture.devices.diagnosis(of: device, in: fixture.acme, lane: .transactional))
    }

    private func waiting(_ fixture: StoreFixture, _ device: DeviceID) async throws -> [WaitingFacts] {
        try await facts(fixture, device).waiting
    }

    /// The only message that waits.
    private func only(_ fixture: StoreFixture, _ device: DeviceID) async throws -> WaitingFacts {
        let found = try await waiting(fixture, device)
        try #require(found.count == 1, "\(found)")
        return found[0]
    }

    private func control(_ fixture: StoreFixture, _ message: NewMessage, _ control: MessageControl) async throws {
        #expect(try await fixture.ask(ControlMessage(fixture.scope, message.id, control, by: nil)) == 1)
    }

    /// A message to everyone, whose expansion has come to an identity.
    private func toEveryone(_ fixture: StoreFixture, after: IdentityID?) async throws -> NewMessage {
        var message = try await fixture.message(slices: [NewSlice(number: 0, work: .expand(after: nil))], leased: false)
        message.targets.recipients = nil
        try await fixture.accept(message)
        if let after {
            let sql = "UPDATE gateway.slice SET after = $3 WHERE tenant_id = $1 AND message_id = $2"
            let statement = Statement(sql, [.id(fixture.acme), .id(message.id), .id(after)])
            _ = try await fixture.engine.run(statement, tenant: nil)
        }
        return message
    }

    // MARK: Causes

    @Test func aPausedMessageIsNamedUntilItIsCanceled() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let message = try await fixture.message(to: [(TargetID(device.identity), nil)], leased: false)
        try await fixture.accept(message)
        let queued = try await only(fixture, device.device)
        #expect(queued.message == message.id && queued.target == TargetID(device.identity) && queued.isSelected)
        #expect(queued.state == .sending && queued.queue?.state == "ready" && queued.queue?.attempts == 0)
        #expect(queued.lane == .transactional && queued.pausedAt == nil && !queued.isExpanding)
        try await control(fixture, message, .pause)
        let paused = try await only(fixture, device.device)
        #expect(paused.state == .paused && paused.pausedAt != nil)
        try await control(fixture, message, .resume)
        #expect(try await only(fixture, device.device).state == .sending)
        try await control(fixture, message, .cancel)
        #expect(try await waiting(fixture, device.device).isEmpty)
    }

    @Test func aMessageThatAwaitsAnApprovalIsNamed() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        var message = try await fixture.message(to: [(TargetID(device.identity), nil)], leased: false)
        message.awaitsApproval = true
        try await fixture.accept(message)
        let found = try await only(fixture, device.device)
        #expect(found.state == .awaitingApproval && found.pausedAt != nil)
    }

    @Test func aSliceShowsForWhatItWaits() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        var (message, lease) = try await fixture.sending(to: [device.identity])
        #expect(try await only(fixture, device.device).queue?.state == "leased")
        // A credential that is held uses up no attempt, a peer's wait does.
        for (holder, attempts) in [(CredentialID("apple"), 0), (nil, 1)] as [(CredentialID?, Int)] {
            var progress = try await fixture.progress(
                lease,
                [],
                disposition: .again(after: .seconds(600), heldBy: holder)
            )
            progress.countsAttempt = holder == nil
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            let found = try await only(fixture, device.device)
            #expect(found.queue?.heldBy == holder && found.queue?.attempts == attempts)
            let seenAt = try #require(found.queue?.seenAt)
            #expect(found.queue.map { $0.nextAt > seenAt } == true)
            (message, lease) = try await replaced(fixture, message, device.identity)
        }
        let progress = try await fixture.progress(lease, [], disposition: .dead(reason: "ServiceUnavailable"))
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await only(fixture, device.device).queue?.deadReason == "ServiceUnavailable")
    }

    /// Cancels a message and sends another one.
    private func replaced(
        _ fixture: StoreFixture,
        _ message: NewMessage,
        _ identity: IdentityID
    ) async throws -> (NewMessage, SliceLease) {
        try await control(fixture, message, .cancel)
        return try await fixture.sending(to: [identity])
    }

    @Test func aPausedLaneAndASpentRateAreRead() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        try await fixture.accept(try await fixture.message(to: [(TargetID(device.identity), nil)], leased: false))
        #expect(try await !only(fixture, device.device).isLanePaused)
        let names = ["tenant", "credential/apple", "credential/other"]
        #expect(try await fixture.directory.spentBudgets(among: names, in: fixture.acme).isEmpty)
        for sql in [
            "UPDATE gateway.lane SET is_paused = true WHERE tenant_id = $1",
            """
            INSERT INTO gateway.budget (tenant_id, name, spent_until)
            VALUES ($1, 'tenant', now() - interval '1 second'), ($1, 'credential/apple', now() + interval '1 minute')
            """,
        ] {
            _ = try await fixture.engine.run(Statement(sql, [.id(fixture.acme)]), tenant: nil)
        }
        #expect(try await only(fixture, device.device).isLanePaused)
        let spent = try await fixture.directory.spentBudgets(among: names, in: fixture.acme)
        #expect(spent == ["credential/apple"])
    }

    // MARK: Limits

    @Test func whatHasAnOutcomeOrConcernsOthersIsNotNamed() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let neighbor = try await fixture.register("k2", token: "aa02")
        let (_, lease) = try await fixture.sending(to: [device.identity, neighbor.identity])
        #expect(try await waiting(fixture, device.device).count == 1)
        var progress = try await fixture.progress(lease, [0], disposition: .again(after: .seconds(600)))
        progress.results[0].device = device.device
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await waiting(fixture, device.device).isEmpty)
        #expect(try await waiting(fixture, neighbor.device).count == 1)
        #expect(try await fixture.devices.diagnosis(of: device.device, in: fixture.other, lane: .bulk) == nil)
    }

    @Test func anAudienceIsNamedUntilItsExpansionHasPassedTheDevice() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let ahead = try await toEveryone(fixture, after: nil)
        _ = try await toEveryone(fixture, after: device.identity)
        let found = try await only(fixture, device.device)
        #expect(found.message == ahead.id && found.isExpanding && !found.isSelected && found.target == nil)
        // Another dialect's device does not get it.
        let other = try await fixture.register("k3", token: "aa03", vendor: .upmc)
        #expect(try await waiting(fixture, other.device).isEmpty)
    }

    @Test func dueMessagesComeBeforeScheduledOnesAndTheNumberIsLimited() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let target = [(TargetID(device.identity), nil as Address?)]
        // The id of a message has the time at which it is due.
        var random = SystemRandomNumberGenerator()
        let now = try await fixture.now()
        func send(dueIn delay: Duration) async throws -> MessageID {
            var message = try await fixture.message(to: target, dueIn: delay, leased: false)
            message.id = MessageID(UUID.v7(at: now + delay, using: &random))
            try await fixture.accept(message)
            return message.id
        }
        let late = try await send(dueIn: .seconds(7200))
        let soon = try await send(dueIn: .seconds(3600))
        let old = try await send(dueIn: .seconds(-60))
        let new = try await send(dueIn: .seconds(-30))
        let first = try await facts(fixture, device.device)
        #expect(first.waiting.map(\.message) == [new, old, soon, late] && !first.hasMoreOpen)
        #expect(first.waiting.map(\.state) == [.sending, .sending, .scheduled, .scheduled])
        for _ in 0..<7 { _ = try await send(dueIn: .seconds(60)) }
        let second = try await facts(fixture, device.device)
        #expect(second.waiting.count == Int(DiagnosisFacts.waitingLimit) && second.hasMoreOpen)
        #expect(second.waiting.prefix(2).map(\.message) == [new, old])
    }
}
