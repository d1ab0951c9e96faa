import DatabaseSupport
import DeliveryEngine
import EngineSupport
import Model
import Store
import TestKit
import Testing

/// Targets that wait, topics that are refused, and slices that cannot be read: engines on PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct DeliveryEngineWaitTests {
    // A rate lets the slice send for a moment at a time. Between two moments it is put back, and the deferred target must not take it along.
    @Test func aDeferredTargetOfAMeteredMessageDelaysNoOther() async throws {
        let world = try await EngineWorld()
        // After a rest, the rate grants 75 pushes at once.
        let identities = try await world.register(200)
        world.transport.script(world.token(world.acme, 3), [.busy(503, after: .seconds(1800))])
        let (message, _) = try await world.submit(to: identities, sliceSize: 200)
        var policy = EngineWorld.policy
        policy.meteredStay = .milliseconds(50)
        let engine = world.engine(policy: policy)
        let key = CredentialKey(tenant: world.acme, credential: "apple")
        engine.limit([key: [.credential("apple", 100)]])
        try await world.running(engine) {
            try await world.eventually("the others are sent") { try await world.sent(message) == 199 }
        }
        #expect(world.pushes.values.allSatisfy { $0 == 1 })
        let slices = try await world.slices(message)
        #expect(slices.count == 2 && slices.filter { !$0.isDone }.count == 1)
        #expect(try await world.leasedSlices().isEmpty)
    }

    // I10
    @Test func aDrainedNodeLeavesTheReadyTargetsToTheNextAndTheDeferredOneToItsTime() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(40)
        world.transport.script(world.token(world.acme, 0), [.busy(503, after: .seconds(1800))])
        let (message, _) = try await world.submit(to: identities, sliceSize: 40)
        var policy = EngineWorld.policy
        policy.meteredStay = .seconds(60)
        let first = world.engine("first", policy: policy)
        let key = CredentialKey(tenant: world.acme, credential: "apple")
        first.limit([key: [.credential("apple", 20)]])
        try await world.running(first) { await world.transport.sends(atLeast: 2) }
        #expect(try await world.sent(message) != 39)
        try await world.running(world.engine("second")) {
            try await world.eventually("the others are sent") { try await world.sent(message) == 39 }
        }
        #expect(world.pushes.values.allSatisfy { $0 == 1 })
    }

    @Test func aRefusedTopicIsRecordedAndItsDeliveriesAreSentOnceItIsAccepted() async throws {
        let world = try await EngineWorld()
        let key = CredentialKey(tenant: world.acme, credential: "apple")
        world.transport.otherwise { _ in .rejected(.topic, "TopicDisallowed") }
        let (message, _) = try await world.submit(to: world.register(30), sliceSize: 10)
        let engine = world.engine()
        try await world.running(engine) {
            try await world.eventually("the refusal is noted") {
                try await world.stores.refusal(of: key)?.hasPrefix("TopicDisallowed for ") == true
            }
            #expect(engine.statistics.refusedCredentials.isEmpty && engine.statistics.refusedTopics.count == 1)
            #expect(try await world.deliveries(message).isEmpty)
            world.transport.otherwise { .accepted(TransportMessageID($0.id)) }
            try await world.eventually("the message is done") { try await world.isDone(message) }
            try await world.eventually("the recovery is noted") { try await world.stores.refusal(of: key) == nil }
        }
        #expect(try await world.sent(message) == 30)
    }

    @Test(arguments: [false, true])
    func workThatCannotBeReadOrExpandedIsGivenUpAndCanBeRequeued(isExpanded: Bool) async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(3)
        let message =
            isExpanded
            ? try await world.accept([NewSlice(number: 0, work: .expand(after: nil))], recipients: nil).0
            : try await world.submit(to: identities).0
        var policy = EngineWorld.policy
        policy.faultLimit = 3
        world.store.isBroken = true
        try await world.running(world.engine(policy: policy)) {
            try await world.eventually("it is given up") { try await world.state(message) == .dead }
            world.store.isBroken = false
            let requeue = ControlMessage(world.scope, message, .requeue, by: nil)
            #expect(try await world.stores.commands.run(requeue, in: world.acme) == 1)
            try await world.eventually("the message is done") { try await world.state(message) == .done }
        }
        #expect(try await world.sent(message) == 3)
    }
}

extension EngineWorld {
    fileprivate func state(_ message: MessageID) async throws -> MessageState? {
        try await stores.queries.message(message.description, in: acme)?.state
    }
}
