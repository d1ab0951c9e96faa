import Forwarding
import Model
import TestKit
import Testing

@Suite struct ForwardingMachineTests {
    private let upstream = ForwardWorld.upstream
    private let policy = ForwardPolicy()

    /// A machine whose queues with these keys are making their first calls.
    private func calling(_ keys: ClosedRange<UInt8>) -> ForwardingMachine {
        var machine = ForwardingMachine(policy)
        _ = machine.handle(.due([upstream]), at: .zero)
        let leases = keys.map { ForwardWorld.lease($0, 1) }
        _ = machine.handle(.claimed(upstream, limit: policy.queuesPerUpstream, leases), at: .zero)
        return machine
    }

    @Test func aQueueMakesItsCallsOneAfterAnother() {
        var machine = ForwardingMachine(policy)
        #expect(machine.handle(.due([upstream]), at: .zero) == [.claim(upstream, limit: policy.queuesPerUpstream)])
        // Queues that are being claimed count as used.
        #expect(machine.handle(.due([upstream]), at: .zero).isEmpty)
        let (first, second) = (ForwardWorld.lease(1, 1), ForwardWorld.lease(1, 2))
        let claimed = ForwardingMachine.Event.claimed(upstream, limit: policy.queuesPerUpstream, [first])
        #expect(machine.handle(claimed, at: .zero) == [.call(first)])
        #expect(machine.handle(.answered(first, .accepted), at: .zero) == [.settle(first)])
        #expect(machine.handle(.settled(first, .next(second)), at: .zero) == [.call(second)])
        #expect(machine.handle(.answered(second, .refused("HTTP 400")), at: .zero) == [.settle(second)])
        #expect(machine.handle(.settled(second, .ended), at: .zero).isEmpty)
        #expect(machine.handle(.due([upstream]), at: .zero) == [.claim(upstream, limit: policy.queuesPerUpstream)])
    }

    /// Queues of one call each end at the pace of the upstream, not at that of the looks.
    @Test func freePlacesAreFilledAtOnceWhileMoreQueuesAreDue() {
        var policy = ForwardPolicy()
        (policy.queuesPerUpstream, policy.queuesPerClaim) = (4, 2)
        var machine = ForwardingMachine(policy)
        _ = machine.handle(.due([upstream]), at: .zero)
        let leases = (UInt8(1)...4).map { ForwardWorld.lease($0, 1) }
        _ = machine.handle(.claimed(upstream, limit: 4, leases), at: .zero)
        #expect(machine.handle(.settled(leases[0], .ended), at: .zero).isEmpty)
        #expect(machine.handle(.settled(leases[1], .ended), at: .zero) == [.claim(upstream, limit: 2)])
        // Fewer than asked for: no others are due.
        let last = ForwardWorld.lease(5, 1)
        #expect(machine.handle(.claimed(upstream, limit: 2, [last]), at: .zero) == [.call(last)])
        for lease in [leases[2], leases[3], last] {
            #expect(machine.handle(.settled(lease, .ended), at: .zero).isEmpty)
        }
        #expect(machine.handle(.drain, at: .zero).isEmpty && machine.hasEnded)
    }

    /// Where one upstream has taken all places of the node, another gets the next one that is free.
    @Test func anUpstreamWithoutPlacesComesFirst() {
        var policy = ForwardPolicy()
        (policy.queues, policy.queuesPerUpstream, policy.queuesPerClaim) = (3, 4, 2)
        let other = CredentialKey(tenant: "t", credential: "other")
        var machine = ForwardingMachine(policy)
        #expect(machine.handle(.due([upstream, other]), at: .zero) == [.claim(upstream, limit: 3)])
        let leases = (UInt8(1)...3).map { ForwardWorld.lease($0, 1) }
        _ = machine.handle(.claimed(upstream, limit: 3, leases), at: .zero)
        // Its own places would permit a claim, but the node has only one.
        #expect(machine.handle(.settled(leases[0], .ended), at: .zero).isEmpty)
        #expect(machine.handle(.due([upstream, other]), at: .zero) == [.claim(other, limit: 1)])
        #expect(machine.handle(.claimed(other, limit: 1, []), at: .zero).isEmpty)
        #expect(machine.handle(.settled(leases[1], .ended), at: .zero) == [.claim(upstream, limit: 2)])
    }

    /// Queues that are given back leave their places free until the next look.
    @Test func queuesThatFailAreNotReplacedAtOnce() {
        var policy = ForwardPolicy()
        (policy.queuesPerUpstream, policy.queuesPerClaim) = (2, 1)
        var machine = ForwardingMachine(policy)
        _ = machine.handle(.due([upstream]), at: .zero)
        let leases = (UInt8(1)...2).map { ForwardWorld.lease($0, 1) }
        _ = machine.handle(.claimed(upstream, limit: 2, leases), at: .zero)
        _ = machine.handle(.answered(leases[0], .busy), at: .zero)
        #expect(machine.handle(.returned(leases[0]), at: .zero).isEmpty)
        #expect(machine.handle(.settled(leases[1], .lost), at: .zero).isEmpty)
        #expect(machine.handle(.due([upstream]), at: .zero) == [.claim(upstream, limit: 2)])
    }

    @Test(arguments: [(0, 1), (1, 2), (2, 4), (8, 256), (9, 300), (50, 300)])
    func aCallWaitsLongerAfterEachFailure(_ attempts: Int, _ seconds: Int) {
        var machine = calling(1...1)
        let lease = ForwardWorld.lease(1, 1, attempts: attempts)
        #expect(
            machine.handle(.answered(lease, .failed("HTTP 500", after: nil)), at: .zero)
                == [.postpone(lease, by: .seconds(seconds), reason: "HTTP 500")]
        )
    }

    @Test func theUpstreamMayAskForALongerWaitButNotForMoreThanTheLongestOne() {
        for (asked, wait) in [(20, 20), (86_400, 300)] {
            var machine = calling(1...1)
            let lease = ForwardWorld.lease(1, 1)
            let verdict = ForwardVerdict.failed("HTTP 429", after: .seconds(asked))
            #expect(
                machine.handle(.answered(lease, verdict), at: .zero)
                    == [.postpone(lease, by: .seconds(wait), reason: "HTTP 429")]
            )
        }
    }

    @Test func afterFailuresInARowOneQueueTriesAndItsSuccessFreesTheOthers() {
        var machine = calling(1...3)
        for key in UInt8(1)...3 {
            let lease = ForwardWorld.lease(key, 1)
            _ = machine.handle(.answered(lease, .failed("timeout", after: nil)), at: .zero)
            _ = machine.handle(.returned(lease), at: .zero)
        }
        #expect(machine.blocked == [upstream])
        #expect(machine.handle(.due([upstream]), at: .milliseconds(999)).isEmpty)
        #expect(machine.handle(.due([upstream]), at: .seconds(1)) == [.claim(upstream, limit: 1)])
        #expect(machine.handle(.due([upstream]), at: .seconds(1)).isEmpty)
        let probe = ForwardWorld.lease(4, 1)
        #expect(machine.handle(.claimed(upstream, limit: 1, [probe]), at: .seconds(1)) == [.call(probe)])
        // The wait doubles after a try that fails.
        _ = machine.handle(.answered(probe, .failed("timeout", after: nil)), at: .seconds(1))
        _ = machine.handle(.returned(probe), at: .seconds(1))
        #expect(machine.handle(.due([upstream]), at: .milliseconds(2999)).isEmpty)
        #expect(machine.handle(.due([upstream]), at: .seconds(3)) == [.claim(upstream, limit: 1)])
        _ = machine.handle(.claimed(upstream, limit: 1, [probe]), at: .seconds(3))
        #expect(
            machine.handle(.answered(probe, .accepted), at: .seconds(3)) == [.resume(upstream), .settle(probe)]
        )
        #expect(machine.blocked.isEmpty)
    }

    @Test func aRefusedCredentialStopsTheUpstreamAndRemovesNothing() {
        var machine = calling(1...2)
        let (first, second) = (ForwardWorld.lease(1, 1), ForwardWorld.lease(2, 1))
        #expect(
            machine.handle(.answered(first, .credential("HTTP 401")), at: .zero)
                == [.postpone(first, by: policy.credentialWait, reason: "HTTP 401", counts: false)]
        )
        // A queue that was in progress does not begin another call.
        let next = ForwardWorld.lease(2, 2)
        #expect(machine.handle(.settled(second, .next(next)), at: .zero) == [.release(next)])
        #expect(machine.blocked == [upstream])
    }

    @Test func aSuccessThatBeganEarlierDoesNotEndTheWait() {
        var machine = calling(1...2)
        let (first, second) = (ForwardWorld.lease(1, 1), ForwardWorld.lease(2, 1))
        _ = machine.handle(.answered(first, .credential("HTTP 401")), at: .zero)
        _ = machine.handle(.returned(first), at: .zero)
        #expect(machine.handle(.answered(second, .accepted), at: .seconds(1)) == [.settle(second)])
        _ = machine.handle(.settled(second, .ended), at: .seconds(1))
        #expect(machine.blocked == [upstream])
        #expect(machine.handle(.due([upstream]), at: .seconds(2)).isEmpty)
        // The call that tries ends it.
        #expect(machine.handle(.due([upstream]), at: policy.credentialWait) == [.claim(upstream, limit: 1)])
        _ = machine.handle(.claimed(upstream, limit: 1, [first]), at: policy.credentialWait)
        #expect(
            machine.handle(.answered(first, .accepted), at: policy.credentialWait) == [
                .resume(upstream), .settle(first),
            ]
        )
        #expect(machine.blocked.isEmpty)
    }

    /// The wait of a call grows with its own failures only.
    @Test func aBusyGatewayAndARefusedCredentialAreNoFailuresOfTheCall() {
        var machine = calling(1...2)
        let (first, second) = (ForwardWorld.lease(1, 1), ForwardWorld.lease(2, 1))
        #expect(
            machine.handle(.answered(first, .busy), at: .zero)
                == [.postpone(first, by: policy.busyWait, reason: "busy", counts: false)]
        )
        #expect(
            machine.handle(.answered(second, .credential("HTTP 403")), at: .zero)
                == [.postpone(second, by: policy.credentialWait, reason: "HTTP 403", counts: false)]
        )
    }

    @Test func onlyTheUpstreamThatFailsIsBlocked() {
        var machine = calling(1...3)
        let other = CredentialKey(tenant: "t", credential: "other")
        for key in UInt8(1)...3 {
            _ = machine.handle(.answered(ForwardWorld.lease(key, 1), .failed("down", after: nil)), at: .zero)
        }
        #expect(machine.handle(.due([upstream, other]), at: .zero) == [.claim(other, limit: 64)])
    }

    @Test func aNodeThatStopsEndsItsCallsAndBeginsNone() {
        var machine = calling(1...1)
        let lease = ForwardWorld.lease(1, 1)
        #expect(machine.handle(.drain, at: .zero).isEmpty && !machine.hasEnded)
        #expect(machine.handle(.due([upstream]), at: .zero).isEmpty)
        #expect(machine.handle(.answered(lease, .accepted), at: .zero) == [.settle(lease)])
        let next = ForwardWorld.lease(1, 2)
        #expect(machine.handle(.settled(lease, .next(next)), at: .zero) == [.release(next)])
        #expect(machine.handle(.returned(next), at: .zero).isEmpty && machine.hasEnded)
    }

    @Test func aLongQueueLeavesItsPlaceAfterItsTurn() {
        var machine = calling(1...1)
        for number in 1..<Int64(policy.callsPerTurn) {
            let lease = ForwardWorld.lease(1, number)
            _ = machine.handle(.answered(lease, .accepted), at: .zero)
            let next = ForwardWorld.lease(1, number + 1)
            #expect(machine.handle(.settled(lease, .next(next)), at: .zero) == [.call(next)])
        }
        let last = ForwardWorld.lease(1, Int64(policy.callsPerTurn))
        _ = machine.handle(.answered(last, .accepted), at: .zero)
        let next = ForwardWorld.lease(1, Int64(policy.callsPerTurn) + 1)
        #expect(machine.handle(.settled(last, .next(next)), at: .zero) == [.release(next)])
    }

    /// Calls of a key arrive complete and in order, whatever fails and whoever takes over. Only a call whose answer was lost arrives again, before the next.
    @Test(arguments: 1...40)
    func theCallsOfAKeyArriveCompleteAndInOrder(_ seed: Int) {
        let calls: Int64 = 12
        var world = ForwardWorld(seed: UInt64(seed), keys: 8, calls: calls)
        for turn in 0..<6000 {
            world.mood = turn % 2000 < 600 ? .down : .flaky
            world.step(kills: true)
        }
        world.mood = .up
        for turn in 0..<200_000 where !world.isDone {
            if turn % 50 == 0 { world.now += .seconds(2) }
            world.step(kills: false)
        }
        #expect(world.isDone && world.mostAtOnce == 1)
        for key in UInt8(0)..<8 {
            var seen: [Int64] = []
            for number in world.received[key] ?? [] where number != seen.last { seen.append(number) }
            #expect(seen == Array(1...calls))
        }
    }

    @Test(arguments: [(200, "accepted"), (304, "accepted"), (400, "refused"), (404, "refused"), (409, "refused")])
    func aStatusOfTheCallEndsIt(_ status: Int, _ meaning: String) {
        #expect(ForwardVerdict(status: status) == (meaning == "accepted" ? .accepted : .refused("HTTP \(status)")))
    }

    @Test(arguments: [401, 403])
    func aStatusOfTheCredentialStops(_ status: Int) {
        #expect(ForwardVerdict(status: status) == .credential("HTTP \(status)"))
    }

    @Test(arguments: [301, 302, 408, 429, 500, 503])
    func aStatusOfTheServiceIsRepeated(_ status: Int) {
        #expect(
            ForwardVerdict(status: status, retryAfter: .seconds(3)) == .failed("HTTP \(status)", after: .seconds(3))
        )
    }
}
