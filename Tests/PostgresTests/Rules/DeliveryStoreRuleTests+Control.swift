import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The operator's controls of a message, and slices that gave up.
extension DeliveryStoreRuleTests {
    @Test func aPausedMessageWaitsUntilItIsResumedIncludingLeasedSlices() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        let foreign = try await world.run(
            ControlMessage(world.scope, message.id, .pause, by: nil),
            in: "nobody"
        )
        #expect(foreign == 0, "another tenant's pause")
        #expect(try await world.control(message, .pause) == 1, "pauses")
        #expect(try await world.control(message, .pause) == 0, "second pauses")
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims while it is paused")
        #expect(try await world.control(message, .resume) == 1, "resumes")
        guard let lease = try await world.claim(message.id, by: "n1").first else {
            return fail("no lease")
        }
        #expect(try await world.control(message, .pause) == 1, "pauses while it is at work")
        #expect(try await world.deliveries.load(lease)?.state == .paused, "state")
        var progress = world.progress(lease, .sent, .again(after: .zero))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims of what was put back")
        #expect(try await world.control(message, .resume) == 1, "second resumes")
        #expect(try await world.deliveries.load(lease)?.state == .sending, "state after the resume")
        #expect(try await world.claim(message.id, by: "n1").count == 1, "claims after the resume")
    }

    @Test func aPausedAudienceIsExpandedOnceItIsResumed() async throws {
        let world = try await RuleWorld.make()
        _ = try await world.register(world.newKey(), token: world.newToken())
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        #expect(try await world.control(message, .pause) == 1, "pauses")
        let page = try await world.deliveries.expand(lease, by: "n1", pageSize: 9)
        #expect(page == .fenced, "a page while it is paused")
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims while it is paused")
        #expect(try await world.control(message, .resume) == 1, "resumes")
        guard let again = try await world.claim(message.id, by: "n1").first else { return fail("lost") }
        let last = try await world.deliveries.expand(again, by: "n1", pageSize: 9)
        #expect(last == .finished(recipients: 1), "a page after the resume")
    }

    @Test func aSliceThatGaveUpWaitsForARequeueAndKeepsItsOutcomes() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        guard let lease = try await world.buried(message) else { return fail("no lease") }
        #expect(try await world.deliveries.load(lease)?.state == .dead, "state")
        try await world.pass(.seconds(600))
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims of what gave up")
        #expect(try await world.control(message, .requeue) == 1, "requeues")
        #expect(try await world.control(message, .requeue) == 0, "second requeues")
        #expect(try await world.deliveries.load(lease)?.state == .sending, "state after the requeue")
        guard let again = try await world.claim(message.id, by: "n2").first else { return fail("lost") }
        #expect(again.attempts == 1, "attempts")
        #expect(again.isDone(0) && !again.isDone(1), "the bitmap changed")
        var progress = world.progress(again, .sent, .finished)
        progress.results = Array(progress.results.suffix(1))
        #expect(try await world.deliveries.record(progress, by: "n2") == .recorded(1), "the rest")
        #expect(try await world.deliveries.load(lease)?.state == .done, "state in the end")
    }

    @Test func aSliceThatGaveUpIsDueWhenItsMessageExpires() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        guard let lease = try await world.buried(message) else { return fail("no lease") }
        // The message's lifetime of one hour, and one hour more.
        try await world.pass(.seconds(2 * 3600))
        guard let last = try await world.claim(message.id, by: "n2").first else { return fail("not written off") }
        var progress = world.progress(last, .expired, .finished)
        progress.results = Array(progress.results.suffix(1))
        _ = try await world.deliveries.record(progress, by: "n2")
        #expect(try await world.deliveries.load(lease)?.state == .done, "state in the end")
    }

    @Test func aSliceThatGaveUpCanBeCanceled() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        guard try await world.buried(message) != nil else { return fail("no lease") }
        #expect(try await world.control(message, .cancel) == 1, "cancels")
        #expect(try await world.claim(message.id, by: "n1").count == 1, "slices to write off")
        #expect(try await world.control(message, .requeue) == 0, "requeues of a canceled message")
    }

    @Test func aSliceReturnedAfterACancelIsDueAtOnce() async throws {
        let world = try await RuleWorld.make()
        for holder in [CredentialID("c1"), nil] {
            let message = try await world.listed(1)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
            #expect(try await world.control(message, .cancel) == 1, "cancels")
            var progress = world.progress(lease, .sent, .again(after: .seconds(600), heldBy: holder))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            let last = try await world.claim(message.id, by: "n2")
            #expect(last.count == 1, "slices to write off, held by \(holder?.rawValue ?? "nobody")")
        }
    }

    @Test func slicesWithoutCapacityDelayTheirOwnMessageOnly() async throws {
        let world = try await RuleWorld.make()
        let large = try await world.spread(3)
        guard let lease = try await world.first(by: "n1") else { return fail("no lease") }
        let other = try await world.listed(1)
        var progress = world.progress(lease, .sent, .crowded(for: .seconds(20)))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.first(by: "n1")?.key.message == other.id, "what has room")
        #expect(try await world.first(by: "n1")?.key.message == nil, "what else has room")
        try await world.pass(.seconds(21))
        #expect(try await world.claim(large.id, by: "n2").count == 3, "claims after it")
    }

    @Test func slicesOfACanceledMessageDoNotWaitForCapacity() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.spread(3)
        guard let lease = try await world.first(by: "n1") else { return fail("no lease") }
        _ = try await world.control(message, .cancel)
        var progress = world.progress(lease, .sent, .crowded(for: .seconds(20)))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.claim(message.id, by: "n1").count == 3, "slices to write off")
    }

    // MARK: Waits of a paused message

    /// The numbers of the slices that are due.
    private func due(_ message: NewMessage, _ world: RuleWorld) async throws -> [Int32] {
        // The leases outlast the test.
        let leases = try await world.deliveries.claim(
            tenant: world.tenant,
            lane: .bulk,
            limit: 100,
            by: "n9",
            lease: .seconds(86_400)
        )
        return leases.filter { $0.key.message == message.id }.map(\.key.number).sorted()
    }

    @Test func aResumedMessageKeepsTheDueTimesOfItsSlices() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.spread(5, every: .seconds(600))
        try await world.pass(.seconds(300))
        #expect(try await world.control(message, .pause) == 1, "pauses")
        try await world.pass(.seconds(900))
        #expect(try await due(message, world) == [], "due while it is paused")
        #expect(try await world.control(message, .resume) == 1, "resumes")
        #expect(try await due(message, world) == [0, 1, 2], "due after 20 minutes")
        try await world.pass(.seconds(601))
        #expect(try await due(message, world) == [3], "due after 30 minutes")
    }

    // The pace limits the load of the app's servers: a pause must not end in a burst.
    @Test func aPaceGoesOnWhereAPauseStoppedIt() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.spread(5, every: .seconds(600), pace: Pace(count: 1, delay: .seconds(600)))
        try await world.pass(.seconds(900))
        #expect(try await due(message, world) == [0, 1], "due before the pause")
        #expect(try await world.control(message, .pause) == 1, "pauses")
        try await world.pass(.seconds(1500))
        #expect(try await world.control(message, .resume) == 1, "resumes")
        #expect(try await due(message, world) == [], "due at once")
        try await world.pass(.seconds(301))
        #expect(try await due(message, world) == [2], "due with the rest of its step")
        try await world.pass(.seconds(600))
        #expect(try await due(message, world) == [3], "due one step later")
    }

    @Test func aPauseBeforeTheBeginningDelaysNothing() async throws {
        let world = try await RuleWorld.make()
        let pace = Pace(count: 1, delay: .seconds(600))
        let message = try await world.spread(2, every: .seconds(600), pace: pace, dueIn: .seconds(1200))
        #expect(try await world.control(message, .pause) == 1, "pauses")
        try await world.pass(.seconds(600))
        #expect(try await world.control(message, .resume) == 1, "resumes")
        try await world.pass(.seconds(601))
        #expect(try await due(message, world) == [0], "due at its time")
        try await world.pass(.seconds(600))
        #expect(try await due(message, world) == [1], "due one step later")
    }

    @Test func aPeersWaitOutlivesAPause() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.spread(2)
        guard let lease = try await world.first(by: "n1") else { return fail("no lease") }
        var progress = world.progress(lease, .sent, .again(after: .seconds(900)))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        for _ in 0..<2 {
            #expect(try await world.control(message, .pause) == 1, "pauses")
            #expect(try await world.control(message, .resume) == 1, "resumes")
        }
        #expect(try await due(message, world) == [1 - lease.key.number], "due after two pauses")
        try await world.pass(.seconds(901))
        #expect(try await due(message, world) == [lease.key.number], "due after the wait")
    }

    @Test func requeuedSlicesKeepThePace() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.spread(3, pace: Pace(count: 1, delay: .seconds(600)))
        for lease in try await world.claim(message.id, by: "n1") {
            var progress = world.progress(lease, .sent, .dead(reason: "ServiceUnavailable"))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
        }
        #expect(try await world.control(message, .requeue) == 1, "requeues")
        #expect(try await due(message, world) == [0], "due at once")
        try await world.pass(.seconds(601))
        #expect(try await due(message, world) == [1], "due one step later")
    }

    // MARK: Slices that cannot be worked on

    @Test func anExpansionThatGaveUpIsDeadAndCanBeRequeued() async throws {
        let world = try await RuleWorld.make()
        for _ in 0..<2 { _ = try await world.register(world.newKey(), token: world.newToken()) }
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        guard case .page = try await world.deliveries.expand(lease, by: "n1", pageSize: 1) else {
            return fail("no page")
        }
        var progress = world.progress(lease, .sent, .unexpandable)
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        guard let slice = try await world.claim(message.id, by: "n1").first else { return fail("no slice") }
        #expect(try await world.deliveries.load(slice)?.state == .expanding, "state with an open slice")
        _ = try await world.deliveries.record(world.progress(slice, .sent, .finished), by: "n1")
        #expect(try await world.deliveries.load(slice)?.state == .dead, "state when only the expansion is left")
        #expect(try await world.control(message, .requeue) == 1, "requeues")
        #expect(try await world.deliveries.load(slice)?.state == .expanding, "state after the requeue")
        #expect(try await world.claim(message.id, by: "n1").first?.work != .deliver, "the expansion")
    }

    @Test func aPageAndAReturnedLeaseResetTheCountOfLapses() async throws {
        let world = try await RuleWorld.make()
        for _ in 0..<3 { _ = try await world.register(world.newKey(), token: world.newToken()) }
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        func lapsed() async throws -> SliceLease? {
            _ = try await world.claim(message.id, by: "n1")
            try await world.pass(RuleWorld.lease + .seconds(1))
            return try await world.claim(message.id, by: "n1").first { $0.work != .deliver }
        }
        guard let lease = try await lapsed() else { return fail("no lease") }
        #expect(lease.lapses == 1, "lapses")
        _ = try await world.deliveries.expand(lease, by: "n1", pageSize: 1)
        guard let next = try await lapsed() else { return fail("no lease after a page") }
        #expect(next.lapses == 1, "lapses after a page")
        try await world.deliveries.release([next], by: "n1")
        let last = try await world.claim(message.id, by: "n1").first { $0.work != .deliver }
        #expect(last?.lapses == 0, "lapses after it was given back")
        #expect(last?.attempts == 0, "an expansion pushes nothing")
    }

    @Test func consecutiveLapsedLeasesAreCountedAndAReportResetsTheCount() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1)
        for lapses in 0..<3 {
            let lease = try await world.claim(message.id, by: "n1").first
            #expect(lease?.lapses == Int16(lapses), "lapses")
            #expect(lease?.followsLapse == (lapses > 0), "follows a lapse")
            try await world.pass(RuleWorld.lease + .seconds(1))
        }
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("lost") }
        var progress = world.progress(lease, .sent, .again(after: .zero))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n1")
        let next = try await world.claim(message.id, by: "n1").first
        #expect(next?.lapses == 0, "lapses after a word")
        #expect(next?.followsLapse == false, "follows a lapse after a word")
    }
}

extension RuleWorld {
    /// The number of changes that the control made: 0 or 1.
    func control(_ message: NewMessage, _ control: MessageControl) async throws -> Int? {
        try await run(ControlMessage(scope, message.id, control, by: nil))
    }

    /// A message of `count` slices with one target each, due at once or one after the other.
    fileprivate func spread(
        _ count: Int,
        every step: Duration = .zero,
        pace: Pace? = nil,
        dueIn delay: Duration = .zero
    ) async throws -> NewMessage {
        var identities: [IdentityID] = []
        for _ in 0..<count {
            if let made = try await register(newKey(), token: newToken()) { identities.append(made.identity) }
        }
        var message = message(to: identities, dueIn: delay)
        let start = message.times.dueAt
        message.times.expiresAt = start + .seconds(86_400)
        message.targets.slices = identities.enumerated().map { number, identity in
            NewSlice(
                number: Int32(number),
                work: .deliver,
                targets: [TargetID(identity)],
                addresses: [nil],
                dueAt: step == .zero ? nil : start + step * number
            )
        }
        _ = try await accept(message)
        if let pace { _ = try await run(SetPace(message.id, pace)) }
        return message
    }

    /// The slice that has been due for longest.
    fileprivate func first(by node: NodeID) async throws -> SliceLease? {
        try await deliveries.claim(tenant: tenant, lane: .bulk, limit: 1, by: node, lease: Self.lease).first
    }

    /// Sends the first target of `message` and lets the rest give up. Returns its lease.
    fileprivate func buried(_ message: NewMessage) async throws -> SliceLease? {
        guard var lease = try await claim(message.id, by: "n1").first else { return nil }
        lease.markDone(0)
        var progress = progress(lease, .sent, .dead(reason: "ServiceUnavailable"))
        progress.results = Array(progress.results.prefix(1))
        _ = try await deliveries.record(progress, by: "n1")
        return lease
    }
}
