import EngineSupport
import Model
import Testing

@testable import DeliveryEngine

/// The events that the engine sends to the slices in progress. The task of each slice receives only its own events.
struct EngineStateTests {
    private var state = EngineState(policy: EnginePolicy())

    private func lease(_ number: Int32, epoch: Int64 = 1) -> SliceLease {
        var lease = MachineBench.lease(1, epoch: epoch)
        lease.key.number = number
        return lease
    }

    /// The events that an inbox has received so far.
    private func heard(_ events: AsyncStream<SliceEvent>, _ inbox: AsyncStream<SliceEvent>.Continuation) async
        -> [String]
    {
        inbox.finish()
        var all: [String] = []
        for await event in events {
            switch event {
            case .reclaimed(let lease): all.append("reclaimed at \(lease.epoch)")
            case .fenced(let epoch): all.append("fenced at \(epoch)")
            case .drainRequested: all.append("drain")
            case .ticked: all.append("tick")
            default: all.append("something else")
            }
        }
        return all
    }

    @Test mutating func sliceInProgressContinuesWithItsNewerLease() async {
        let (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
        let isNew = state.admit(lease(1))
        #expect(isNew)
        state.listen(lease(1).key, inbox)
        for epoch in [Int64(1), 2, 2] {
            let needsATask = state.admit(lease(1, epoch: epoch))
            #expect(!needsATask)
        }
        let next = state.ended(lease(1).key, epoch: 1)
        #expect(next?.epoch == 2)
        let none = state.ended(lease(1).key, epoch: 2)
        #expect(none == nil)
        #expect(state.running.isEmpty)
        #expect(await heard(events, inbox) == ["reclaimed at 2"])
    }

    // I3: a lease that was not renewed may belong to another node.
    @Test mutating func leasesThatWereNotRenewedAreFenced() async {
        let (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
        let (others, otherInbox) = AsyncStream.makeStream(of: SliceEvent.self)
        for number in [Int32(1), 2] { _ = state.admit(lease(number)) }
        state.listen(lease(1).key, inbox)
        state.listen(lease(2).key, otherInbox)
        _ = state.offer([lease(3), lease(4)])
        state.renewed(state.leases, kept: [lease(2).key, lease(4).key])
        #expect(state.offered.leases.map(\.key.number) == [4])
        #expect(await heard(events, inbox) == ["fenced at 1"])
        #expect(await heard(others, otherInbox).isEmpty)
    }

    // Thousands of small slices wait for an answer: a tick must not wake them.
    @Test mutating func sliceThatWaitsForAnswersReceivesNoTicks() async {
        let (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
        _ = state.admit(lease(1))
        state.listen(lease(1).key, inbox)
        state.tick()
        state.listen(lease(1).key, toTicks: false)
        state.tick()
        state.drain()
        state.listen(lease(1).key, toTicks: true)
        state.tick()
        #expect(await heard(events, inbox) == ["tick", "drain", "tick"])
    }

    @Test mutating func sliceThatBeginsDuringADrainIsNotifiedAtOnce() async {
        let (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
        _ = state.admit(lease(1))
        state.drain()
        state.listen(lease(1).key, inbox)
        state.drain()
        #expect(await heard(events, inbox) == ["drain"])
    }
}

/// A push service that answers late: the slices of one node with their machines, the gate and the state, on a virtual clock.
struct SlowServiceTests {
    private static let latency = Duration.seconds(5)
    private let policy = EnginePolicy()

    private func lease(_ number: Int) -> SliceLease {
        var lease = MachineBench.lease(1)
        lease.key.message = MessageID(.numbered(2000 + number))
        return lease
    }

    private func start(_ lease: SliceLease, _ state: inout EngineState, now: Timestamp) -> MachineBench {
        let isNew = state.admit(lease)
        #expect(isNew)
        let permit = state.gate.enter(
            PushRoute(MachineBench.credential),
            lane: lease.lane,
            targets: lease.targets.count,
            isHolder: false,
            now: now
        )
        return MachineBench(lease: lease, permit: permit)
    }

    private func finish(_ bench: inout MachineBench, _ lease: SliceLease, _ state: inout EngineState, now: Timestamp) {
        bench.now = now
        bench.completeAll(.yes)
        bench.recorded()
        #expect(bench.isFinished && bench.results[0]?.state == .sent)
        state.gate.leave(MachineBench.credential, lane: lease.lane, targets: lease.targets.count)
        let next = state.ended(lease.key, epoch: lease.epoch)
        #expect(next == nil)
    }

    @Test func aThousandMessagesToOneRecipientTakeTwoRoundsOfAnswers() {
        var state = EngineState(policy: policy)
        var now = MachineBench.start
        var waiting = (0..<1000).map(lease)
        var rounds = 0
        while !waiting.isEmpty && rounds < 5 {
            var running: [(lease: SliceLease, bench: MachineBench)] = []
            while !waiting.isEmpty {
                let limit = min(state.quota(of: "acme", in: .bulk, now: now), policy.claimLimit)
                guard limit > 0 else { break }
                for lease in waiting.prefix(limit) { running.append((lease, start(lease, &state, now: now))) }
                waiting.removeFirst(min(limit, waiting.count))
            }
            #expect(running.allSatisfy { $0.bench.onTheirWay.count == 1 })
            #expect(state.leases.count == running.count, "each is renewed")
            #expect(state.shares.total <= policy.targetsPerTenant)
            now = now + Self.latency
            for (lease, bench) in running {
                var bench = bench
                finish(&bench, lease, &state, now: now)
            }
            rounds += 1
        }
        #expect(rounds == 2 && waiting.isEmpty)
        #expect(state.running.isEmpty && state.shares.total == 0)
    }

    // A full slice counts as much as 62 small ones.
    @Test func aTenantRunsTwelveFullSlices() {
        var state = EngineState(policy: policy)
        var count = 0
        while state.quota(of: "acme", in: .bulk, now: MachineBench.start) > 0, count < 100 {
            var lease = MachineBench.lease(500)
            lease.key.number = Int32(count)
            _ = state.admit(lease)
            count += 1
        }
        #expect(count == 12)
        let others = state.holdsOthers(than: MachineBench.lease(500).key)
        #expect(others)
    }
}

/// When a machine needs ticks.
struct TickTests {
    @Test func onlyAMachineThatWaitsForSomethingElseThanAnswersNeedsTicks() {
        var bench = MachineBench(targets: 2)
        #expect(!bench.machine.needsTicks, "both pushes are in flight")
        bench.complete([0], .yes)
        #expect(bench.machine.needsTicks, "an outcome waits for its flush")
        bench.pass(.milliseconds(125))
        #expect(bench.records.count == 1 && !bench.machine.needsTicks, "the flush is in flight")
        bench.perform(bench.machine.recordFailed(now: bench.now))
        #expect(bench.machine.needsTicks, "the flush is repeated after a wait")

        let full = MachineBench(permit: .full(for: .seconds(1)))
        #expect(full.machine.needsTicks, "the slice asks the gate again")
    }

    @Test func aMachineWhoseWorkCannotBeReadNeedsTicks() {
        var bench = MachineBench(MachineBench.lease(1))
        #expect(!bench.machine.needsTicks)
        bench.perform(bench.machine.loadFailed(now: bench.now))
        #expect(bench.machine.needsTicks)
    }
}
