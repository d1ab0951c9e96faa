import DatabaseSupport
import DeliveryEngine
import EngineStore
import EngineSupport
import FoundationEssentials
import Model
import Store
import TestKit
import Testing

/// The engine on PostgreSQL: claims, outages, shares, breakers.
@Suite(.timeLimit(.minutes(10))) struct DeliveryEngineTests {
    @Test func dueSlicesAreSentAndWrittenOnce() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(250))
        try await world.running(world.engine()) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(try await world.sent(message) == 250)
        #expect(world.pushes.count == 250 && world.pushes.values.allSatisfy { $0 == 1 })
        #expect(try await world.leasedSlices().isEmpty)
        #expect(try await !world.stores.isListed(world.node()))
    }

    // I3: several nodes on one store, no faults.
    @Test func severalEnginesOnOneStorePushEveryTargetOnce() async throws {
        let world = try await EngineWorld()
        let acme = try await world.submit(to: world.register(1000), sliceSize: 20).0
        let beta = try await world.submit(to: world.register(500, in: world.beta), in: world.beta, sliceSize: 20).0
        try await world.running(world.engine("a"), world.engine("b"), world.engine("c")) {
            try await world.eventually("both messages are done") {
                guard try await world.isDone(acme) else { return false }
                return try await world.isDone(beta, in: world.beta)
            }
        }
        #expect(world.pushes.count == 1500 && world.pushes.values.allSatisfy { $0 == 1 })
        #expect(try await world.sent(acme) == 1000)
        #expect(try await world.sent(beta, in: world.beta) == 500)
    }

    @Test func offeredSlicesNeedNoClaim() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(60)
        let claim = NewMessage.Claim(node: world.node(), lease: .seconds(3600))
        let (message, leases) = try await world.submit(to: identities, sliceSize: 20, claim: claim)
        let engine = world.engine()
        #expect(engine.offer(leases) == 3)
        try await world.running(engine) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        // The epoch is still that of the acceptance, so no node claimed the slice.
        #expect(try await world.slices(message).allSatisfy { $0.epoch == 1 })
    }

    @Test func offeredSlicesAboveTheBoundAreReturnedAndClaimed() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(60)
        let claim = NewMessage.Claim(node: world.node(), lease: .seconds(3600))
        let (message, leases) = try await world.submit(to: identities, sliceSize: 20, claim: claim)
        var policy = EngineWorld.policy
        policy.offerLimit = 2
        let engine = world.engine(policy: policy)
        #expect(engine.offer(leases) == 2)
        try await world.running(engine) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(world.pushes.count == 60)
        #expect(engine.statistics.totals.offersRefused == 1)
    }

    // Flat memory: one page after another, whatever the audience.
    @Test func audienceOfTwentyThousandIsExpandedPageByPage() async throws {
        let world = try await EngineWorld(inventedPages: 40)
        let expansion = NewSlice(number: 0, work: .expand(after: nil))
        let (message, _) = try await world.accept([expansion], recipients: nil)
        try await world.running(world.engine()) {
            try await world.eventually("the expansion is over") { try await world.isDone(message) }
        }
        let cursors = [SliceLease.Work.expand(after: nil)] + (1...40).map { .expand(after: IdentityID(.numbered($0))) }
        #expect(world.store.pages == cursors)
    }

    @Test func everyoneIsReachedThroughTheSlicesOfAnExpansion() async throws {
        let world = try await EngineWorld()
        _ = try await world.register(300)
        var policy = EngineWorld.policy
        policy.expansionPageSize = 50
        let expansion = NewSlice(number: 0, work: .expand(after: nil))
        let (message, _) = try await world.accept([expansion], recipients: nil)
        try await world.running(world.engine(policy: policy)) {
            try await world.eventually("everyone is settled") {
                guard try await world.isDone(message) else { return false }
                return try await world.sent(message) == 300
            }
        }
        #expect(try await world.slices(message).count == 7)
        #expect(world.pushes.values.allSatisfy { $0 == 1 })
    }

    // MARK: Outages

    @Test func storeOutageInMidSendLosesAndRepeatsNothing() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(300))
        world.transport.hold()
        try await world.running(world.engine()) {
            await world.transport.sends(atLeast: 300)
            world.store.isAway = true
            world.transport.release()
            try await world.eventually("the store is missed") { world.store.failures > 20 }
            #expect(try await world.sent(message) == 0)
            world.store.isAway = false
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(world.pushes.count == 300 && world.pushes.values.allSatisfy { $0 == 1 })
        #expect(try await world.deliveries(message).allSatisfy { $0.isCertain })
    }

    // The leases lapse meanwhile, and the node would claim the slices again, which must not push again.
    @Test func outageLongerThanTheLeaseRepeatsNothingWhileTheProcessLives() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(300))
        var policy = EngineWorld.policy
        policy.lease = .milliseconds(300)
        world.transport.hold()
        try await world.running(world.engine(policy: policy)) {
            await world.transport.sends(atLeast: 300)
            world.store.isAway = true
            world.transport.release()
            let lapsed = try await world.stores.now() + .milliseconds(400)
            try await world.eventually("the leases lapse") { try await world.stores.now() > lapsed }
            world.store.isAway = false
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(world.pushes.count == 300 && world.pushes.values.allSatisfy { $0 == 1 })
        #expect(try await world.sent(message) == 300)
    }

    @Test func engineStartsWhenTheStoreComesLater() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(10))
        world.store.isAway = true
        try await world.running(world.engine()) {
            try await world.eventually("the store is missed") { world.store.failures > 3 }
            world.store.isAway = false
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
    }

    @Test func sliceThatAnotherNodeLeasedIsDropped() async throws {
        let world = try await EngineWorld()
        let (message, _) = try await world.submit(to: world.register(50), sliceSize: 50)
        world.transport.hold()
        let engine = world.engine()
        try await world.running(engine) {
            await world.transport.sends(atLeast: 50)
            // The engine must not win the slice back between the two calls.
            world.store.isAway = true
            try await world.takeOver(message, for: "x")
            world.store.isAway = false
            world.transport.release()
            try await world.eventually("the slice is let go") { engine.statistics.running == 0 }
        }
        #expect(try await world.deliveries(message).isEmpty)
        #expect(try await world.leasedSlices().count == 1)
    }

    // MARK: Credentials and tokens

    @Test func refusedCredentialIsRecordedAndItsDeliveriesStayQueued() async throws {
        let world = try await EngineWorld()
        let refusal = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        let key = CredentialKey(tenant: world.acme, credential: "apple")
        world.transport.otherwise { push in
            push.token.text.hasPrefix("acme") ? .rejected(refusal) : .accepted(TransportMessageID(push.id))
        }
        let dead = try await world.submit(to: world.register(30), sliceSize: 10).0
        let fine = try await world.submit(to: world.register(30, in: world.beta), in: world.beta, sliceSize: 10).0
        var policy = EngineWorld.policy
        policy.retryScale = 1
        let engine = world.engine(policy: policy)
        try await world.running(engine) {
            try await world.eventually("the refusal is noted") {
                try await world.stores.refusal(of: key) == refusal.reason
            }
            try await world.eventually("the other tenant is served") { try await world.isDone(fine, in: world.beta) }
            #expect(engine.statistics.refusedCredentials == [key: refusal])
            #expect(try await world.deliveries(dead).isEmpty)
            #expect(try await !world.isDone(dead))
        }
        #expect(try await world.leasedSlices().isEmpty)
    }

    @Test func correctedCredentialSendsWaitingDeliveries() async throws {
        let world = try await EngineWorld()
        let refusal = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        world.transport.otherwise { _ in .rejected(refusal) }
        let key = CredentialKey(tenant: world.acme, credential: "apple")
        let (message, _) = try await world.submit(to: world.register(30), sliceSize: 10)
        let engine = world.engine()
        try await world.running(engine) {
            try await world.eventually("the refusal is noted") {
                try await world.stores.refusal(of: key) == refusal.reason
            }
            world.transport.otherwise { .accepted(TransportMessageID($0.id)) }
            await engine.forget(key)
            try await world.eventually("the message is done") { try await world.isDone(message) }
            try await world.eventually("the recovery is noted") { try await world.stores.refusal(of: key) == nil }
        }
        #expect(try await world.sent(message) == 30)
    }

    // I9: while the push service is unreachable, one slice probes and the others are not read again. As soon as a
    // probe is answered, all are sent.
    @Test func unreachablePeerIsProbedByOneSliceAndThenAllAreSent() async throws {
        let world = try await EngineWorld()
        world.transport.otherwise { _ in .notSent(.noConnection) }
        let (message, _) = try await world.submit(to: world.register(40), sliceSize: 1)
        var policy = EngineWorld.policy
        policy.retry.unreachableCredential = RetryBackoff(first: .milliseconds(20), cap: .milliseconds(20))
        policy.retryScale = 1
        let engine = world.engine(policy: policy)
        try await world.running(engine) {
            try await world.eventually("all were read, and some probed") { world.store.loads >= 100 }
            // Otherwise they would be read three times each, for one or two probes. Some slices that were read are
            // not sent yet.
            #expect(world.transport.sent.count >= 55)
            world.transport.otherwise { .accepted(TransportMessageID($0.id)) }
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        #expect(try await world.sent(message) == 40)
    }

    @Test func unregisteredTokenIsInvalidatedAndItsDeliveryFails() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(3)
        world.transport.script(world.token(world.acme, 1), [.rejected(.tokenDead(since: nil), "Unregistered", 410)])
        let (message, _) = try await world.submit(to: identities)
        try await world.running(world.engine()) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
            try await world.eventually("the token is invalid") {
                try await world.stores.count([identities[1]], withToken: .invalid, in: world.acme) == 1
            }
        }
        #expect(try await world.sent(message) == 2)
        #expect(try await world.funnel(message)?.failed == 1)
    }

    // The cause is a wrong key or topic, not 300 wrong tokens.
    @Test func appWhoseTokensAllFailKeepsThem() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(300)
        world.transport.otherwise { _ in .rejected(.tokenDoubtful, "BadDeviceToken") }
        let (message, _) = try await world.submit(to: identities)
        let engine = world.engine()
        try await world.running(engine) {
            try await world.eventually("the message is done") { try await world.isDone(message) }
        }
        let kept = try await world.stores.count(identities, withToken: .active, in: world.acme)
        #expect(kept >= 260)
        #expect(engine.statistics.doubtfulApps == [TokenQuality.Key(tenant: world.acme, app: "shop")])
        #expect(try await world.funnel(message)?.failed == 300)
    }

    // MARK: Fairness

    // I9 in logic, not in time: the pushes of the slow tenant never complete, and the other tenant's message is still
    // done.
    @Test func tenantWhoseVendorHangsDoesNotStopAnother() async throws {
        let world = try await EngineWorld()
        let slow = try await world.submit(to: world.register(400), sliceSize: 2).0
        let fast = try await world.submit(to: world.register(200, in: world.beta), in: world.beta, sliceSize: 2).0
        let transport = HangingTransport(inner: world.transport, tenant: world.acme)
        var policy = EngineWorld.policy
        policy.targetsPerNode = 12 * policy.leastTargets
        policy.targetsReserved = 2 * policy.leastTargets
        policy.drainDeadline = .milliseconds(50)
        let engine = world.engine(policy: policy, transport: transport)
        try await world.running(engine) {
            try await world.eventually("the fast tenant is served") { try await world.isDone(fast, in: world.beta) }
            #expect(try await !world.isDone(slow))
            #expect(engine.statistics.running <= 12)
        }
        #expect(try await world.leasedSlices().isEmpty)
    }

    @Test func urgentMessageDoesNotWaitForACampaignThatHangs() async throws {
        let world = try await EngineWorld()
        let identities = try await world.register(200)
        let transport = HangingTransport(inner: world.transport, prefix: "\(world.acme)-1")
        var policy = EngineWorld.policy
        policy.targetsPerNode = 8 * policy.leastTargets
        policy.targetsReserved = 2 * policy.leastTargets
        policy.drainDeadline = .milliseconds(50)
        let campaign = identities.enumerated().filter { "\($0.offset)".hasPrefix("1") }.map(\.element)
        _ = try await world.submit(to: campaign, sliceSize: 2)
        let engine = world.engine(policy: policy, transport: transport)
        try await world.running(engine) {
            try await world.eventually("the campaign has all it may") { engine.statistics.running >= 3 }
            let (code, _) = try await world.submit(to: [identities[2]], lane: .urgent)
            engine.wake()
            try await world.eventually("the code is sent") { try await world.isDone(code) }
        }
    }
}
