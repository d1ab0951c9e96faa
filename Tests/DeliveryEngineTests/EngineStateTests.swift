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

    @Test mutating func sliceThatBeginsDuringADrainIsNotifiedAtOnce() async {
        let (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
        _ = state.admit(lease(1))
        state.drain()
        state.listen(lease(1).key, inbox)
        state.drain()
        #expect(await heard(events, inbox) == ["drain"])
    }
}
