import DeliveryEngine
import EngineSupport
import Model
import Routing
import Testing

/// The paths of targets and the calls to upstreams (docs/routing.md#upstream-sending).
@Suite struct DeliveryMachineUpstreamTests {
    private static let old: DeliveryPath = .upstream("old")

    /// A machine of an app with one rule for deliveries.
    private func machine(
        targets count: Int = 1,
        _ paths: [DeliveryPath],
        addressesUsers: Bool = false,
        lease: SliceLease? = nil,
        permit: Permit = .go,
        outage: Duration? = .zero,
        callSize: Int = 100,
        policy: EnginePolicy = EnginePolicy(),
        interrupted: [InterruptedCall] = [],
        _ change: (inout SliceWork) -> Void = { _ in }
    ) -> MachineBench {
        let table = RouteTable(
            RouteRules(deliveries: [DeliveryRule(paths: paths)]),
            upstreams: ["old": UpstreamFacts(vendor: .rationalOwl, addressesUsers: addressesUsers)]
        )
        return MachineBench(
            targets: count,
            lease: lease,
            policy: policy,
            permit: permit,
            outage: outage,
            adapter: PlainUpstreamAdapter(callSize: callSize)
        ) { work in
            work.isRouted = true
            work.routing = .rules(
                RoutedSlice(
                    table: table,
                    upstreams: ["old": UpstreamSettings(vendor: .rationalOwl)],
                    interrupted: interrupted
                )
            )
            change(&work)
        }
    }

    private func removeToken(_ work: inout SliceWork, _ index: Int = 0) {
        work.targets[index]?.destination.token = nil
        work.targets[index]?.destination.tokenState = .none
    }

    // MARK: Paths

    @Test func aCallSendsToAllTargetsOfItsUpstream() throws {
        var bench = machine(targets: 3, [Self.old], callSize: 2)
        #expect(bench.sent.isEmpty && bench.openCalls.count == 2)
        let order = try #require(bench.orders[bench.openCalls[0]])
        #expect(order.targets == [TargetID(.numbered(0)), TargetID(.numbered(1))] && order.upstream == "old")
        #expect(order.units.isEmpty && order.id.epoch == 1)
        let numbers = bench.openCalls
        bench.answer(numbers[0], .acceptedByUpstream, reference: "m-1")
        bench.answer(numbers[1], .acceptedByUpstream)
        #expect(bench.results.count == 3 && bench.disposition == .finished)
        #expect(bench.results.values.allSatisfy { $0.state == .sent && $0.attempt.transport == "upstream:old" })
        #expect(bench.results[0]?.attempt.count == 1 && bench.results[0]?.attempt.isCertain == true)
        // With the outcomes, in one flush.
        let ends = bench.records.flatMap(\.calls)
        #expect(ends.contains(UpstreamCallEnd(id: order.id, reference: "m-1")))
        #expect(ends.count == 2 && ends.allSatisfy { !$0.isVoid })
        #expect(bench.verdicts.isEmpty && bench.signs == [.answered, .answered])
    }

    // docs/routing.md#rollouts: user-1 is at 27.5 %, user-2 at 77.7 %.
    @Test func aRolloutDividesTheTargets() throws {
        let rollout = try #require(Rollout(hundredths: 5000, by: .user, salt: "spring"))
        var bench = machine(targets: 2, [Self.old]) { work in
            let table = RouteTable(
                RouteRules(deliveries: [
                    DeliveryRule(rollout: rollout, paths: [.apns]), DeliveryRule(paths: [Self.old]),
                ]),
                upstreams: ["old": UpstreamFacts(vendor: .rationalOwl)]
            )
            work.routing = .rules(
                RoutedSlice(table: table, upstreams: ["old": UpstreamSettings(vendor: .rationalOwl)])
            )
            work.targets[0]?.person.user = "user-1"
            work.targets[1]?.person.user = "user-2"
        }
        #expect(bench.sent.map(\.slot) == [0])
        #expect(bench.openCalls.compactMap { bench.orders[$0]?.targets } == [[TargetID(.numbered(1))]])
        bench.completeAll(.yes)
        for number in bench.openCalls { bench.answer(number, .acceptedByUpstream) }
        #expect(bench.results[0]?.attempt.transport == "apns")
        #expect(bench.results[1]?.attempt.transport == "upstream:old")
    }

    @Test func anUpstreamNeedsNoToken() {
        let alone = machine([Self.old]) { removeToken(&$0) }
        var second = machine([.apns, Self.old]) { removeToken(&$0) }
        #expect(alone.openCalls.count == 1 && second.openCalls.count == 1)
        for number in second.openCalls { second.answer(number, .acceptedByUpstream) }
        #expect(second.results[0]?.attempt.reduced == "path:apns=noToken")
        let none = machine([.apns]) { removeToken(&$0) }
        #expect(none.results[0]?.reason == "noDevice" && none.openCalls.isEmpty)
    }

    @Test func thePathNoneSuppresses() {
        let bench = machine([.none])
        #expect(bench.results[0]?.state == .suppressed && bench.results[0]?.reason == "routed")
        #expect(bench.sent.isEmpty && bench.openCalls.isEmpty)
    }

    @Test func tagsAndDialectsOfRulesCount() {
        var tagged = machine(targets: 2, [Self.old]) { work in
            let table = RouteTable(
                RouteRules(deliveries: [
                    DeliveryRule(tags: ["beta"], paths: [.none]), DeliveryRule(vendor: .upmc, paths: [.none]),
                    DeliveryRule(paths: [.apns]),
                ]),
                upstreams: [:]
            )
            work.routing = .rules(RoutedSlice(table: table, tags: [1: ["beta"]]))
        }
        #expect(tagged.sent.map(\.slot) == [0])
        tagged.completeAll(.yes)
        #expect(tagged.results[1]?.reason == "routed" && tagged.results[0]?.state == .sent)
    }

    @Test func rulesThatCannotBeReadSendNothing() {
        let bench = machine([.apns]) { $0.routing = .unread }
        #expect(bench.sent.isEmpty && bench.results.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(60)))
    }

    @Test func aTargetThatNoCallCanNameTakesItsNextPath() {
        let next = machine(targets: 2, [Self.old, .apns]) { $0.targets[0]?.key = "lost-0" }
        #expect(next.sent.map(\.slot) == [0] && next.openCalls.count == 1)
        let none = machine([Self.old]) { $0.targets[0]?.key = "lost-0" }
        #expect(none.results[0]?.state == .suppressed && none.results[0]?.reason == "noDevice")
    }

    @Test func contentThatTheUpstreamCannotExpressFails() {
        let bench = machine([Self.old, .apns]) { $0.notification.content.body = "nothing" }
        #expect(bench.results[0]?.state == .failed && bench.results[0]?.reason == "payloadInvalid")
        #expect(bench.sent.isEmpty)
    }

    // `callsPerSecond` counts calls, whatever the number of their targets.
    @Test func aRateHoldsCallsBack() throws {
        var bench = machine(targets: 6, [Self.old], permit: .metered(1), callSize: 2)
        #expect(bench.asked.first == 3 && bench.openCalls.count == 1)
        bench.permit = .metered(0)
        let number = try #require(bench.openCalls.first)
        bench.answer(number, .acceptedByUpstream)
        bench.pass(.milliseconds(100))
        #expect(bench.openCalls.isEmpty && bench.orders.count == 1 && bench.asked.last == 2)
        bench.permit = .metered(1)
        bench.pass(.milliseconds(100))
        #expect(bench.openCalls.count == 1 && bench.orders.count == 2)
        bench.permit = .go
        bench.pass(.milliseconds(100))
        #expect(bench.openCalls.count == 2 && bench.orders.count == 3)
        for number in bench.openCalls { bench.answer(number, .acceptedByUpstream) }
        let called = bench.orders.values.flatMap(\.targets)
        #expect(called.count == 6 && Set(called).count == 6)
    }

    // MARK: Outcomes

    enum Consequence: Sendable { case sent, uncertain, failed, nextPath, putBack, repeated }

    /// The table of docs/routing.md#upstream-sending.
    private static let consequences: [(Outcome, Consequence)] = [
        (.acceptedByUpstream, .sent), (.lost, .uncertain), (.unclear, .uncertain),
        (.rejected(.content, "bad"), .failed), (.unknownTarget("unknown", status: 200), .nextPath),
        (.rejected(.tokenDoubtful, "unknown"), .nextPath), (.rejected(.credential, "key", 401), .nextPath),
        (.rejected(.service, "later", 503), .putBack), (.busy(429, after: .seconds(9)), .putBack),
        (.notSent(.noConnection), .repeated), (.notSent(.noCredential), .nextPath), (.notSent(.overloaded), .putBack),
    ]

    @Test(arguments: consequences)
    func anOutcomeDecidesWhetherTheNextPathIsTaken(_ outcome: Outcome, _ consequence: Consequence) throws {
        var bench = machine([Self.old, .apns])
        let number = try #require(bench.openCalls.first)
        bench.answer(number, outcome)
        #expect(bench.sent.count == (consequence == .nextPath ? 1 : 0))
        #expect(bench.openCalls.count == (consequence == .repeated ? 1 : 0))
        let result = bench.results[0]
        switch consequence {
        case .sent: #expect(result?.state == .sent && result?.attempt.isCertain == true)
        case .uncertain: #expect(result?.state == .sent && result?.attempt.isCertain == false)
        case .failed: #expect(result?.state == .failed && result?.attempt.transport == "upstream:old")
        case .nextPath:
            #expect(result == nil)
            bench.completeAll(.yes)
            #expect(bench.results[0]?.attempt.transport == "apns")
            #expect(TriedPath.paths(in: bench.results[0]?.attempt.reduced).map(\.path) == ["old"])
        case .putBack, .repeated: #expect(result == nil)
        }
        // An upstream says nothing about tokens.
        #expect(bench.verdicts.isEmpty)
        let isVoid = bench.records.flatMap(\.calls).first?.isVoid
        if consequence == .sent || consequence == .uncertain { #expect(isVoid == false) }
        if consequence == .failed || consequence == .putBack { #expect(isVoid == true) }
    }

    @Test func withoutAnotherPathAnUnknownTargetFailsAndARefusedCredentialIsWaitedFor() throws {
        var unknown = machine([Self.old])
        let first = try #require(unknown.openCalls.first)
        unknown.answer(first, .unknownTarget("NOT_FOUND", status: 200))
        #expect(unknown.results[0]?.state == .failed && unknown.results[0]?.reason == "NOT_FOUND")
        var refused = machine([Self.old])
        let second = try #require(refused.openCalls.first)
        refused.answer(second, .rejected(.credential, "key", 401))
        #expect(refused.disposition == .again(after: .seconds(60), heldBy: "old"))
        #expect(refused.signs.first == .refused(Rejection(scope: .credential, reason: "key", status: 401)))
    }

    @Test func aDeadTokenTakesTheUpstream() throws {
        var bench = machine([.apns, Self.old])
        bench.completeAll(.rejected(.tokenDead(since: nil), "Unregistered", 410))
        #expect(bench.verdicts.count == 1 && bench.openCalls.count == 1 && bench.results.isEmpty)
        let number = try #require(bench.openCalls.first)
        bench.answer(number, .acceptedByUpstream)
        #expect(bench.results[0]?.state == .sent && bench.results[0]?.attempt.transport == "upstream:old")
        #expect(bench.results[0]?.attempt.transportID == nil)
        #expect(bench.results[0]?.attempt.reduced == "path:apns=Unregistered")
    }

    @Test(arguments: [Outcome.rejected(.content, "BadTopic"), .lost])
    func whatThePushServiceMayHaveDeliveredTakesNoOtherPath(_ outcome: Outcome) {
        var bench = machine([.apns, Self.old])
        bench.completeAll(outcome)
        #expect(bench.openCalls.isEmpty && bench.results.count == 1)
    }

    // `retryUnknown` repeats a push only where the push service is the only path: the upstream would not recognize the message.
    @Test func aPushWithoutAnAnswerIsNotRepeatedIfItCouldTakeAnotherPath() {
        var policy = EnginePolicy()
        policy.retry.unknown = .always
        for paths in [[DeliveryPath.apns, Self.old], [Self.old, .apns]] {
            var bench = machine(paths, policy: policy) { $0.targets[0]?.key = "lost-0" }
            bench.completeAll(.lost)
            #expect(bench.sent.count == 1 && bench.openCalls.isEmpty, "\(paths)")
            #expect(bench.results[0]?.state == .sent && bench.results[0]?.attempt.isCertain == false, "\(paths)")
        }
        var alone = machine([.apns], policy: policy)
        alone.completeAll(.lost)
        #expect(alone.sent.count == 2 && alone.results.isEmpty)
    }

    @Test func aCallOfWhichNoByteHasLeftIsMadeAgainAFewTimes() throws {
        var bench = machine(targets: 2, [Self.old])
        var ids: [UpstreamCallID] = []
        for _ in 0..<4 {
            let number = try #require(bench.openCalls.first)
            let order = try #require(bench.orders[number])
            #expect(order.replaced == ids)
            ids.append(order.id)
            bench.answer(number, .notSent(.noConnection))
        }
        #expect(Set(ids).count == 4 && bench.openCalls.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(2)) && bench.records.last?.countsAttempt == false)
        #expect(Set(bench.records.flatMap(\.calls)) == Set(ids.map { UpstreamCallEnd(id: $0, isVoid: true) }))
        // Something was tried, so that the slice keeps its rules.
        #expect(bench.records.last?.returnsRouting == false)
    }

    // Without its end, the next node would settle the target as sent.
    @Test func aCallThatNeverLeftEndsAlsoIfItsCredentialIsStopped() throws {
        var bench = machine([Self.old])
        let number = try #require(bench.openCalls.first)
        let id = try #require(bench.orders[number]?.id)
        bench.permit = .stopped(for: .seconds(1))
        bench.answer(number, .notSent(.noConnection))
        #expect(bench.openCalls.isEmpty && bench.results.isEmpty)
        #expect(bench.records.flatMap(\.calls) == [UpstreamCallEnd(id: id, isVoid: true)])
    }

    // The store may write the record after a flush that says that there was none.
    @Test func aCallThatMayStillBeRecordedEndsWithTheLastFlush() throws {
        var bench = machine(targets: 2, [Self.old], callSize: 1)
        let numbers = bench.openCalls
        try #require(numbers.count == 2)
        let ids = numbers.compactMap { bench.orders[$0]?.id }
        bench.end(numbers[0], .unrecorded)
        bench.pass(.seconds(1))
        #expect(bench.records.allSatisfy { $0.calls.isEmpty })
        bench.answer(numbers[1], .acceptedByUpstream)
        if bench.records.last?.disposition == .goOn { bench.recorded() }
        let ends = bench.records.last?.calls ?? []
        #expect(ends.contains(UpstreamCallEnd(id: ids[0], isVoid: true)))
        #expect(bench.results[0] == nil && bench.disposition == .again(after: .seconds(1)))
        #expect(bench.signs == [.answered])
    }

    @Test func aSliceOfWhichNothingWasTriedReturnsItsRules() {
        let stopped = machine([Self.old], permit: .stopped(for: .seconds(9)))
        #expect(stopped.records.last?.returnsRouting == true)
        #expect(stopped.disposition == .again(after: .seconds(9), heldBy: "old"))
    }

    // Pushes of the lease that lapsed may have left by the path of its rules.
    @Test func aLeaseAfterALapseBindsTheSliceToItsRules() {
        var lease = MachineBench.lease(1, epoch: 3)
        lease.followsLapse = true
        let stopped = machine([Self.old], lease: lease, permit: .stopped(for: .seconds(9)))
        #expect(stopped.records.last?.returnsRouting == false && stopped.records.last?.countsAttempt == true)
    }

    // After a lapse, and after an attempt that counted.
    @Test func aTargetThatThePushServiceMayHaveGotTakesNoOtherPath() {
        var lapsed = MachineBench.lease(1, epoch: 3)
        lapsed.followsLapse = true
        let tried = MachineBench.lease(1, epoch: 2, attempts: 1)
        let dead = Outcome.rejected(.tokenDead(since: nil), "Unregistered", 410)
        let cases: [(SliceLease, [DeliveryPath])] = [
            (lapsed, [.apns, Self.old]), (lapsed, [Self.old, .apns]), (tried, [.apns, Self.old]),
        ]
        for (lease, paths) in cases {
            var bench = machine(paths, lease: lease)
            bench.completeAll(dead)
            #expect(bench.sent.count == 1 && bench.openCalls.isEmpty, "\(paths)")
            #expect(bench.results[0]?.reason == "Unregistered", "\(paths)")
        }
        #expect(machine([Self.old, .apns], lease: tried).openCalls.count == 1)
        let free = machine([.apns, Self.old], lease: lapsed) { removeToken(&$0) }
        #expect(free.openCalls.count == 1 && free.sent.isEmpty)
    }

    @Test func aPushWithoutAnAnswerIsNotRepeatedAfterALapse() {
        var policy = EnginePolicy()
        policy.retry.unknown = .always
        var lease = MachineBench.lease(1, epoch: 3)
        lease.followsLapse = true
        var bench = machine([.apns, Self.old], lease: lease, policy: policy)
        bench.completeAll(.lost)
        #expect(bench.sent.count == 1 && bench.results[0]?.attempt.isCertain == false)
    }

    // MARK: Outages

    /// How long the path is out of order, and whether the next one is taken. Nil: refused, which no time heals.
    private static let outages: [(Duration?, Bool)] = [(.seconds(29), false), (.seconds(30), true), (nil, true)]

    @Test(arguments: outages)
    func theNextPathIsTakenAfterTheCoolDown(_ outage: Duration?, _ isTaken: Bool) {
        let bench = machine([Self.old, .apns], permit: .stopped(for: .seconds(60)), outage: outage)
        // The gate stops both paths here, so that the second one waits for its credential.
        let expected: SliceProgress.Disposition =
            isTaken ? .again(after: .seconds(60), heldBy: "apple") : .again(after: .seconds(1), heldBy: "old")
        #expect(bench.disposition == expected)
    }

    // MARK: Users

    private func share(_ user: UserID, _ work: inout SliceWork) {
        for index in work.targets.keys { work.targets[index]?.person.user = user }
    }

    @Test func aUserIsCalledOnceAndTheOtherTargetsAreSuppressed() throws {
        var bench = machine(targets: 2, [Self.old], addressesUsers: true) { share("ann", &$0) }
        let number = try #require(bench.openCalls.first)
        let unit = UpstreamUnit(user: "ann", platform: nil)
        #expect(bench.orders[number]?.units == [unit, unit])
        bench.answer(number, .acceptedByUpstream)
        #expect(bench.results[0]?.state == .sent)
        #expect(bench.results[1]?.state == .suppressed && bench.results[1]?.reason == "sameUser")
        #expect(bench.results[1]?.attempt.transport == nil)
    }

    @Test func usersThatAnotherCallHasAreLeftOut() throws {
        var bench = machine(targets: 3, [Self.old], addressesUsers: true) { work in
            for index in 0..<3 { work.targets[index]?.person.user = UserID("user-\(index)") }
        }
        let first = try #require(bench.openCalls.first)
        bench.end(first, .taken([TargetID(.numbered(1))], withheld: []))
        let second = try #require(bench.openCalls.first)
        #expect(bench.orders[second]?.targets == [TargetID(.numbered(0)), TargetID(.numbered(2))])
        bench.answer(second, .acceptedByUpstream)
        #expect(bench.results[1]?.reason == "sameUser" && bench.results[1]?.state == .suppressed)
        #expect(bench.results[0]?.state == .sent && bench.results[2]?.state == .sent)
    }

    // By rules of another version.
    @Test func aTargetWhoseUserACallHasIsNotPushed() {
        var bench = machine(targets: 3, [.apns]) { work in
            let table = RouteTable(RouteRules(deliveries: [DeliveryRule(paths: [.apns])]), upstreams: [:])
            work.routing = .rules(RoutedSlice(table: table, called: [0: true, 1: false]))
        }
        #expect(bench.sent.map(\.slot) == [2])
        bench.completeAll(.yes)
        #expect(bench.results[0]?.state == .suppressed && bench.results[0]?.reason == "sameUser")
        // The call may turn out to have reached nobody.
        #expect(bench.results[1] == nil && bench.disposition == .again(after: .seconds(2)))
    }

    // The other call may turn out to have reached nobody.
    @Test func usersThatACallWithoutAnEndHasAreTriedLater() throws {
        var bench = machine(targets: 2, [Self.old], addressesUsers: true) { work in
            for index in 0..<2 { work.targets[index]?.person.user = UserID("user-\(index)") }
        }
        let first = try #require(bench.openCalls.first)
        bench.end(first, .taken([], withheld: [], busy: [TargetID(.numbered(1))]))
        let second = try #require(bench.openCalls.first)
        #expect(bench.orders[second]?.targets == [TargetID(.numbered(0))])
        bench.answer(second, .acceptedByUpstream)
        #expect(bench.results[0]?.state == .sent && bench.results[1] == nil)
        #expect(bench.disposition == .again(after: .seconds(2)))
    }

    // An answer that names no target must not make the call again and again.
    @Test func aCallThatNothingExplainsIsPutBack() throws {
        var bench = machine([Self.old], addressesUsers: true) { share("ann", &$0) }
        let number = try #require(bench.openCalls.first)
        bench.end(number, .taken([], withheld: []))
        #expect(bench.openCalls.isEmpty && bench.disposition == .again(after: .seconds(2)))
    }

    @Test func anUpstreamOfUsersFollowsThePushServiceOnlyWithoutATry() throws {
        var tried = machine([.apns, Self.old], addressesUsers: true) { share("ann", &$0) }
        tried.completeAll(.rejected(.tokenDead(since: nil), "Unregistered", 410))
        #expect(tried.openCalls.isEmpty && tried.results[0]?.reason == "Unregistered")
        var free = machine([.apns, Self.old], addressesUsers: true) { work in
            share("ann", &work)
            removeToken(&work)
        }
        let number = try #require(free.openCalls.first)
        #expect(free.orders[number]?.exclusive == [TargetID(.numbered(0))])
        free.end(number, .taken([], withheld: [TargetID(.numbered(0))]))
        #expect(free.results[0]?.reason == "noDevice" && free.openCalls.isEmpty)
        #expect(free.results[0]?.attempt.reduced == "path:apns=noToken,path:old=noDevice")
    }

    // MARK: Takeover

    @Test func aCallWithoutAnEndIsNeverRepeated() {
        let call = InterruptedCall(
            id: UpstreamCallID(epoch: 1, number: 1),
            upstream: "old",
            targets: [TargetID(.numbered(0))]
        )
        let bench = machine(targets: 2, [Self.old], lease: MachineBench.lease(2, epoch: 2), interrupted: [call])
        #expect(bench.openCalls.compactMap { bench.orders[$0]?.targets } == [[TargetID(.numbered(1))]])
        var ended = bench
        for number in ended.openCalls { ended.answer(number, .acceptedByUpstream) }
        let result = ended.results[0]
        #expect(result?.state == .sent && result?.attempt.isCertain == false && result?.reason == "interrupted")
        #expect(result?.attempt.transport == "upstream:old")
        #expect(ended.records.flatMap(\.calls).contains(UpstreamCallEnd(id: call.id)))
    }

    @Test func callsThatANodeCannotWaitForAreUncertain() throws {
        var bench = machine([Self.old, .apns])
        let number = try #require(bench.openCalls.first)
        bench.perform(bench.machine.waitEnded(now: bench.now))
        #expect(bench.results[0]?.state == .sent && bench.results[0]?.attempt.isCertain == false)
        // Too late.
        bench.end(number, .ended(UpstreamResult([.unknownTarget("x", status: 200)])))
        #expect(bench.sent.isEmpty)
    }

    @Test func aTargetThatAnotherNodeSettledTakesItsCallWithIt() {
        var bench = machine(targets: 3, [Self.old], permit: .metered(0)) { $0.capped = [0] }
        bench.pass(.milliseconds(250))
        #expect(bench.records.count == 1 && bench.openCalls.isEmpty)
        bench.machine.reclaimed(MachineBench.lease(3, epoch: 2, done: [0, 1]))
        bench.permit = .go
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        // The call would reach the settled target again, so that the other one returns.
        #expect(bench.openCalls.isEmpty && bench.disposition == .again(after: .zero))
    }

    // It may have made calls, which the next lease finds.
    @Test func aSliceThatAnotherNodeHadInBetweenIsReadAgain() {
        var bench = machine(targets: 3, [Self.old], permit: .metered(0)) { $0.capped = [0] }
        bench.pass(.milliseconds(250))
        bench.machine.reclaimed(MachineBench.lease(3, epoch: 3))
        bench.permit = .go
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        #expect(bench.isFinished && bench.openCalls.isEmpty && bench.records.count == 1)
    }
}
