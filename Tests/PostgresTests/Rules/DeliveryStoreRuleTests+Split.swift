import DatabaseSupport
import DeliveryEngine
import FoundationEssentials
import Model
import Testing

@testable import EngineStore
@testable import Store

/// Targets that leave their slice for a slice of their own (`split_slice`).
extension DeliveryStoreRuleTests {
    private static let quarter = Duration.seconds(15 * 60)

    /// A flush that settles target 0, puts the slice back for `wait` and moves `moved` into a slice of their own.
    private func flush(
        _ lease: SliceLease,
        _ world: RuleWorld,
        again wait: Duration = .zero,
        moved: [Int] = [1],
        _ disposition: SliceProgress.Disposition = .again(after: DeliveryStoreRuleTests.quarter)
    ) -> SliceProgress {
        var lease = lease
        lease.markDone(0)
        var progress = world.progress(lease, .sent, .again(after: wait))
        progress.results = Array(progress.results.prefix(1))
        progress.countsAttempt = false
        progress.retries = [RetrySlice(indexes: moved, disposition: disposition, countsAttempt: true)]
        return progress
    }

    /// The targets of a lease that are not done.
    private func open(_ lease: SliceLease) -> [TargetID] {
        lease.targets.indices.filter { !lease.isDone($0) }.map { lease.targets[$0] }
    }

    @Test func aTargetThatWaitsLongerDoesNotDelayTheOthers() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(12)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        let moved = [1, 9]
        let result = try await world.deliveries.record(flush(lease, world, moved: moved), by: "n1")
        #expect(result == .recorded(1), "outcomes")
        let now = try await world.claim(message.id, by: "n1")
        #expect(now.count == 1, "slices due at once")
        guard let rest = now.first else { return fail("the slice is lost") }
        #expect(rest.attempts == 0, "attempts of the others")
        #expect(open(rest) == [2, 3, 4, 5, 6, 7, 8, 10, 11].map { lease.targets[$0] }, "the others, at their places")
        #expect(rest.targets[3] == lease.targets[3], "a place")
        #expect(try await world.deliveries.load(rest)?.targets.count == 9, "targets that are read")
        func finish(_ lease: SliceLease, by node: NodeID) async throws {
            var progress = world.progress(lease, .sent, .finished)
            progress.results = progress.results.filter { open(lease).contains($0.target) }
            let count = progress.results.count
            #expect(try await world.deliveries.record(progress, by: node) == .recorded(count), "the rest")
        }
        try await finish(rest, by: "n1")
        try await world.pass(Self.quarter + .seconds(1))
        guard let retry = try await world.claim(message.id, by: "n2").first else { return fail("the retry is lost") }
        #expect(retry.key.number == 1 && retry.attempts == 1, "number and attempts")
        #expect(open(retry) == moved.map { lease.targets[$0] }, "targets of the retry")
        #expect(retry.addresses.count == 2, "addresses of the retry")
        #expect(try await world.deliveries.load(retry)?.state == .sending, "state before the end")
        try await finish(retry, by: "n2")
        #expect(try await world.deliveries.load(lease)?.state == .done, "state in the end")
    }

    // The answer was lost, and the repeated flush may group the targets differently.
    @Test func aRepeatedFlushMovesNoTargetTwice() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(4)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        let first = flush(lease, world)
        #expect(try await world.deliveries.record(first, by: "n1") == .recorded(1), "the first flush")
        #expect(try await world.deliveries.record(first, by: "n1") == .recorded(0), "the same flush")
        let other = flush(lease, world, moved: [1, 2])
        #expect(try await world.deliveries.record(other, by: "n1") == .recorded(0), "another grouping")
        try await world.pass(Self.quarter + .seconds(1))
        let leases = try await world.claim(message.id, by: "n2")
        #expect(leases.flatMap(open).sorted() == lease.targets.dropFirst().sorted(), "each target once")
        // Another node holds the slices now.
        #expect(try await world.deliveries.record(first, by: "n1") == .fenced, "a late flush")
        #expect(try await world.claim(message.id, by: "n3").count == 0, "slices after the late flush")
    }

    @Test func aTargetThatWaitsForACredentialIsReleasedByIt() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(3)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        let progress = flush(lease, world, again: .seconds(600), .again(after: Self.quarter, heldBy: "c1"))
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims before it works")
        try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c1"))
        #expect(try await world.claim(message.id, by: "n1").flatMap(open) == [lease.targets[1]], "claims afterwards")
    }

    @Test func targetsThatLeaveACanceledMessageAreWrittenOffAtOnce() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(3)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        #expect(try await world.control(message, .cancel) == 1, "cancels")
        _ = try await world.deliveries.record(flush(lease, world, again: .seconds(600)), by: "n1")
        #expect(try await world.claim(message.id, by: "n2").count == 2, "slices to write off")
    }

    @Test func targetsThatLeaveAPausedMessageWaitUntilItIsResumed() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(3)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        #expect(try await world.control(message, .pause) == 1, "pauses")
        _ = try await world.deliveries.record(flush(lease, world), by: "n1")
        try await world.pass(.seconds(600))
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims while it is paused")
        #expect(try await world.control(message, .resume) == 1, "resumes")
        #expect(try await world.claim(message.id, by: "n1").flatMap(open) == [lease.targets[2]], "claims after it")
        try await world.pass(.seconds(301))
        #expect(try await world.claim(message.id, by: "n1").flatMap(open) == [lease.targets[1]], "the peer's wait")
    }

    @Test func targetsThatGaveUpAreRequeuedAlone() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(3)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        let reason = "ServiceUnavailable"
        _ = try await world.deliveries.record(flush(lease, world, .dead(reason: reason)), by: "n1")
        #expect(try await world.deliveries.load(lease)?.state == .sending, "state with a slice that gave up")
        guard let rest = try await world.claim(message.id, by: "n1").first else { return fail("lost") }
        var progress = world.progress(rest, .sent, .finished)
        progress.results = progress.results.filter { $0.index == 2 }
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.deliveries.load(lease)?.state == .dead, "state when nothing else is left")
        #expect(try await world.control(message, .requeue) == 1, "requeues")
        let again = try await world.claim(message.id, by: "n2")
        #expect(again.flatMap(open) == [lease.targets[1]] && again.first?.attempts == 1, "what is tried again")
    }

    @Test func everyLookupFindsAMovedTargetOnce() async throws {
        let fixture = try await StoreFixture.make()
        var registered: [Registered] = []
        for index in 0..<3 {
            registered.append(try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)"))
        }
        let phones: [Address?] = [.phone("010"), .phone("011"), .phone("012")]
        let (message, lease) = try await fixture.sending(to: registered.map(\.identity), addresses: phones)
        var progress = try await fixture.progress(lease, [0], disposition: .again(after: .seconds(60)))
        progress.retries = [
            RetrySlice(indexes: [1], disposition: .again(after: Self.quarter), countsAttempt: true)
        ]
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let facts = try await fixture.facts(message.id)
        let moved = TargetID(registered[1].identity)
        let trail = try #require(try await fixture.queries.trail(of: facts, target: moved, in: fixture.acme))
        #expect(trail.queue?.slice == 1 && trail.queue?.attempts == 1)
        #expect(trail.delivery.snapshot.state == .queued && trail.delivery.snapshot.address == .phone("011"))
        let rest = try #require(
            try await fixture.queries.trail(of: facts, target: TargetID(registered[2].identity), in: fixture.acme)
        )
        #expect(rest.queue?.slice == 0 && rest.queue?.attempts == 1)
        for index in 0..<3 {
            let device = registered[index].device
            let targets = try await fixture.queries.targets(of: facts, device: "\(device)", in: fixture.acme)
            #expect(targets == [TargetID(registered[index].identity)])
        }
        let reported = try await fixture.ask(
            FindDelivery(fixture.scope, message.id, Reporter(key: VendorDeviceKey("k1")))
        )
        #expect(reported.snapshot?.state == .queued && reported.snapshot?.address == .phone("011"))
    }

    // The expansion numbers its slices and sets their pace: it must not take the slices that left others for its own.
    @Test func anExpansionContinuesBesideSlicesThatWait() async throws {
        let world = try await RuleWorld.make()
        for _ in 0..<6 { _ = try await world.register(world.newKey(), token: world.newToken()) }
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        guard let expansion = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        _ = try await world.deliveries.expand(expansion, by: "n1", pageSize: 3)
        guard let lease = try await world.claim(message.id, by: "n2").first else { return fail("no slice") }
        _ = try await world.deliveries.record(flush(lease, world), by: "n2")
        var result = ExpansionResult.page(0, after: IdentityID(UUID()))
        for _ in 0..<5 {
            guard case .page = result else { break }
            result = try await world.deliveries.expand(expansion, by: "n1", pageSize: 3)
        }
        #expect(result == .finished(recipients: 6), "the end of the expansion")
        try await world.pass(Self.quarter + .seconds(1))
        let leases = try await world.claim(message.id, by: "n2")
        #expect(Set(leases.map(\.key.number)).count == leases.count, "numbers")
        #expect(leases.flatMap(open).count == 5, "open targets")
    }
}
