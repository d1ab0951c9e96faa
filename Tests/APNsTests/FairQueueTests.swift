import Model
import Testing

@testable import APNs

/// Turns among batches, and the ids of what is in flight.
struct FairQueueTests {
    private func run(_ count: Int, deadline: Duration = .seconds(20)) -> FairQueue.Run {
        let job = PoolDriver().job(count, deadline: deadline)
        return FairQueue.Run(job, Array(job.pushes.indices))
    }

    @Test func smallBatchBehindACampaignWaitsOneTurn() {
        var queue = FairQueue(quantum: 16)
        let campaign = run(10_000)
        let urgent = run(1)
        queue.append(campaign)
        queue.append(urgent)
        let firstSeventeen = (0..<17).compactMap { _ in queue.next() }
        #expect(firstSeventeen.last?.job === urgent.job)
        #expect(firstSeventeen.dropLast().allSatisfy { $0.job === campaign.job })
    }

    @Test func everyPushComesOutOnceWhateverTheMixture() {
        var queue = FairQueue(quantum: 3)
        let runs = [run(7), run(1), run(20), run(3)]
        for run in runs { queue.append(run) }
        #expect(queue.count == 31)
        var seen: [ObjectIdentifier: [Int]] = [:]
        while let item = queue.next() { seen[ObjectIdentifier(item.job), default: []].append(item.index) }
        for run in runs { #expect(seen[ObjectIdentifier(run.job)] == run.indices) }
        #expect(queue.isEmpty)
    }

    @Test func whatWasSentBeforeGoesFirst() {
        var queue = FairQueue(quantum: 16)
        queue.append(run(5))
        let again = run(1)
        queue.resend(FairQueue.Item(job: again.job, index: 0, resends: 2))
        let next = queue.next()
        #expect(next?.job === again.job)
        #expect(next?.resends == 2)
        #expect(queue.count == 5)
    }

    @Test func removingABatchTakesWhatIsLeftOfItAndItsResends() throws {
        var queue = FairQueue(quantum: 2)
        let leaving = run(5)
        queue.append(leaving)
        queue.append(run(4))
        let next = queue.next()
        let sent = try #require(next)
        queue.resend(sent)
        let removed = queue.remove(leaving.job)
        #expect(removed.reduce(0) { $0 + $1.remaining.count } == 5)
        #expect(queue.count == 4)
        while let item = queue.next() { #expect(item.job !== leaving.job) }
    }

    @Test func onlyExpiredBatchesAreTakenOut() {
        var queue = FairQueue(quantum: 2)
        queue.append(run(2, deadline: .seconds(1)))
        queue.append(run(3, deadline: .seconds(60)))
        #expect(queue.removeExpired(at: .now + .seconds(5)).map(\.remaining.count) == [2])
        #expect(queue.count == 3)
    }

    @Test func slotIDFindsItsPushOnceAndNeverAnothers() throws {
        var table = SlotTable(limit: 2)
        let job = PoolDriver().job(3)
        func flight(_ index: Int) -> SlotTable.Flight {
            SlotTable.Flight(item: FairQueue.Item(job: job, index: index), connection: 1)
        }
        func insert(_ index: Int) -> UInt64? { table.insert(flight(index)) }
        func remove(_ id: UInt64) -> Int? { table.remove(id)?.item.index }
        let first = try #require(insert(0))
        let second = try #require(insert(1))
        #expect(insert(2) == nil)
        #expect(remove(first) == 0)
        #expect(remove(first) == nil)
        let third = try #require(insert(2))
        // The same place, another id: a late completion for the first finds nothing.
        #expect(third != first && third & 0xFFFF_FFFF == first & 0xFFFF_FFFF)
        #expect(remove(first) == nil)
        #expect(remove(second) == 1)
        #expect(remove(third) == 2)
        #expect(remove(.max) == nil)
        #expect([first, second, third].allSatisfy { $0 < 1 << 63 })
    }
}
