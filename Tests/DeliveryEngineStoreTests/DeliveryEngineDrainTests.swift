import DatabaseSupport
import DeliveryEngine
import EngineStore
import Logging
import Model
import NIOConcurrencyHelpers
import ServiceLifecycle
import Store
import TestKit
import Testing

/// I10: the orderly shutdown.
@Suite(.timeLimit(.minutes(10))) struct DeliveryEngineDrainTests {
    @Test func drainAwaitsPushesReturnsTheRestAndTheSuccessorRepeatsNothing() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(400), sliceSize: 20)
        var policy = EngineWorld.policy
        policy.targetsPerNode = 240
        policy.targetsReserved = 40
        world.transport.hold()
        try await world.running(world.engine("first", policy: policy)) {
            await world.transport.sends(atLeast: 40)
        } releasing: {
            world.transport.release()
        }
        #expect(try await !world.isDone(message))
        #expect(try await world.leasedSlices().isEmpty)
        #expect(try await !world.stores.isListed(world.node("first")))
        let before = world.transport.sent.count
        #expect(try await world.sent(message) == before)
        try await world.running(world.engine("second")) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(world.pushes.count == 400 && world.pushes.values.allSatisfy { $0 == 1 })
    }

    @Test func drainEndsAtItsDeadlineWhenThePeerIsSilent() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(20), sliceSize: 20)
        var policy = EngineWorld.policy
        policy.drainDeadline = .milliseconds(100)
        let transport = HangingTransport(inner: world.transport, tenant: world.acme)
        let engine = world.engine(policy: policy, transport: transport)
        try await world.running(engine) {
            try await world.eventually("the pushes left") { transport.asked.withLockedValue { $0 } == 20 }
        }
        // Without a collapse id the pushes are never repeated, so they count as sent without confirmation
        // (docs/contracts/apns.md#13.4).
        #expect(try await world.leasedSlices().isEmpty)
        let rows = try await world.deliveries(message)
        #expect(rows.count == 20 && rows.allSatisfy { $0.state == .sent && !$0.isCertain })
    }

    @Test func offeredSlicesAreRefusedAndReturnedDuringADrain() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(20)
        let engine = world.engine("first")
        let claim = NewMessage.Claim(node: world.node("first"), lease: .seconds(3600))
        world.transport.hold()
        let first = try await world.submit(to: identities, sliceSize: 20).0
        var second: MessageID?
        try await world.running(engine) {
            await world.transport.sends(atLeast: 20)
            engine.drain()
            let (message, leases) = try await world.submit(to: identities, sliceSize: 20, claim: claim)
            second = message
            #expect(engine.offer(leases) == 0)
            try await world.eventually("it is given back") {
                try await world.slices(message).allSatisfy { $0.owner == nil }
            }
            world.transport.release()
        }
        #expect(try await world.isDone(first))
        let left = try #require(second)
        #expect(try await !world.isDone(left))
    }

    @Test func gracefulShutdownOfTheServiceGroupDrains() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(100), sliceSize: 10)
        let group = ServiceGroup(services: [world.engine()], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await world.eventually("the first pushes leave") { try await world.isAnySettled(message) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try await world.leasedSlices().isEmpty)
        #expect(try await !world.stores.isListed(world.node()))
        #expect(try await world.sent(message) == world.transport.sent.count)
    }

    // A second SIGTERM ends the process at once: leases lapse, and nothing is awaited.
    @Test func cancellationStopsAtOnce() async throws {
        let world = try await EngineWorld()
        _ = try await world.submit(to: world.register(20), sliceSize: 20)
        let transport = HangingTransport(inner: world.transport, tenant: world.acme)
        let engine = world.engine(transport: transport)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await engine.run() }
            try await world.eventually("the slice is at work") { engine.statistics.running == 1 }
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        #expect(try await world.leasedSlices().count == 1)
    }
}
