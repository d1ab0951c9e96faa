import Model
import Testing

@testable import APNs

/// The turns of batches, and the ids of pushes in flight.
struct FairQueueTests {
    private func run(
        _ count: Int,
        client: TenantID = "acme",
        deadline: Duration = .seconds(20)
    ) -> FairQueue.Run {
        let job = PoolDriver().job(count, client: client, deadline: deadline)
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

    @Test func everyPushIsTakenOnceForAnyMixture() {
        var queue = FairQueue(quantum: 3)
        let runs = [run(7), run(1), run(20), run(3)]
        for run in runs { queue.append(run) }
        #expect(queue.count == 31)
        var seen: [ObjectIdentifier: [Int]] = [:]
        while let item = queue.next() { seen[ObjectIdentifier(item.job), default: []].append(item.index) }
        for run in runs { #expect(seen[ObjectIdentifier(run.job)] == run.indices) }
        #expect(queue.isEmpty)
    }

    @Test func resendsGoFirst() {
        var queue = FairQueue(quantum: 16)
        queue.append(run(5))
        let again = run(1)
        queue.resend(FairQueue.Item(job: again.job, index: 0, resends: 2))
        let next = queue.next()
        #expect(next?.job === again.job)
        #expect(next?.resends == 2)
        #expect(queue.count == 5)
    }

    @Test func removingABatchRemovesItsRestAndItsResends() throws {
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

    @Test func onlyExpiredBatchesAreRemoved() {
        var queue = FairQueue(quantum: 2)
        queue.append(run(2, deadline: .seconds(1)))
        queue.append(run(3, deadline: .seconds(60)))
        #expect(queue.removeExpired(at: .now + .seconds(5)).map(\.remaining.count) == [2])
        #expect(queue.count == 3)
    }

    // One client can never starve another: each gets one turn per round, however many batches it has.
    @Test func clientWithManyBatchesTakesOneTurnLikeAClientWithOne() {
        var queue = FairQueue(quantum: 4)
        for _ in 0..<50 { queue.append(run(100, client: "flood")) }
        let small = run(8, client: "small")
        queue.append(small)
        let first = (0..<16).compactMap { _ in queue.next()?.job.client }
        #expect(first.filter { $0 == "small" }.count == 8)
    }

    @Test func resendsOfAFloodDoNotOvertakeAnotherClient() {
        var queue = FairQueue(quantum: 4)
        let flood = run(100, client: "flood")
        for index in 0..<100 { queue.resend(FairQueue.Item(job: flood.job, index: index, resends: 1)) }
        queue.append(run(1, client: "small"))
        let first = (0..<5).compactMap { _ in queue.next()?.job.client }
        #expect(first.contains("small"))
    }

    @Test func largeClientsLeaveSpaceForTheNextOne() {
        var queue = FairQueue(quantum: 4, limit: 1_000)
        for client in ["a", "b", "c"] as [TenantID] {
            for _ in 0..<100 { queue.append(run(min(20, queue.room(for: client)), client: client)) }
        }
        #expect(queue.count < 1_000)
        #expect(queue.room(for: "d") > 0)
        #expect(queue.room(for: "a") == 0)
        #expect(FairQueue(quantum: 1, limit: 0).room(for: "a") == 0)
    }

    // If new clients took the places of finished ones within a round, an old client could wait for ever.
    @Test func newClientsDoNotOvertakeWaitingOnes() {
        var queue = FairQueue(quantum: 4)
        for client in ["a", "b", "c"] as [TenantID] { queue.append(run(100, client: client)) }
        var taken: [TenantID: Int] = [:]
        for number in 0..<200 {
            queue.append(run(1, client: TenantID("new \(number)")))
            for _ in 0..<2 { if let item = queue.next() { taken[item.job.client, default: 0] += 1 } }
        }
        #expect(["a", "b", "c"].allSatisfy { (taken[$0] ?? 0) > 20 }, "\(taken)")
    }

    @Test func newBatchesDoNotOvertakeWaitingOnes() {
        var queue = FairQueue(quantum: 4)
        let first = run(12)
        queue.append(run(50))
        queue.append(first)
        var order: [ObjectIdentifier] = []
        for _ in 0..<100 {
            queue.append(run(1))
            if let item = queue.next() { order.append(ObjectIdentifier(item.job)) }
        }
        #expect(order.filter { $0 == ObjectIdentifier(first.job) }.count >= 8)
    }

    @Test func lineReturnsEverythingInOrder() {
        var line = Line<Int>()
        var seen: [Int] = []
        for number in 0..<1_000 {
            line.append(number)
            if number % 3 == 0, let first = line.popFirst() { seen.append(first) }
        }
        #expect(line.removeAll { $0 % 2 == 1 && $0 > 900 }.count == 50)
        while let first = line.popFirst() { seen.append(first) }
        #expect(seen == (0..<1_000).filter { $0 <= 900 || $0 % 2 == 0 })
        #expect(line.elements.isEmpty)
    }

    @Test func turnsContinueWhenClientsComeAndGo() {
        var queue = FairQueue(quantum: 2)
        for round in 0..<30 {
            for client in 0...(round % 7) { queue.append(run(1 + round % 5, client: TenantID("t\(client)"))) }
            for _ in 0..<(round % 9) { _ = queue.next() }
            if round % 11 == 3 { _ = queue.removeExpired(at: .now + .seconds(60)) }
        }
        let left = queue.count
        #expect((0..<left).compactMap { _ in queue.next() }.count == left)
        #expect(queue.isEmpty && queue.next() == nil)
    }

    @Test func slotIDFindsOnlyItsPushAndOnlyOnce() {
        var table = SlotTable(limit: 2)
        let job = PoolDriver().job(3)
        func flight(_ index: Int) -> SlotTable.Flight {
            SlotTable.Flight(item: FairQueue.Item(job: job, index: index), connection: 1)
        }
        func insert(_ index: Int) -> UInt64 { table.insert(flight(index)) }
        func remove(_ id: UInt64) -> Int? { table.remove(id)?.item.index }
        let first = insert(0)
        let second = insert(1)
        #expect(table.room == 0)
        #expect(remove(first) == 0)
        #expect(table.room == 1)
        #expect(remove(first) == nil)
        let third = insert(2)
        // The same slot with another id, so a late completion for the first push finds nothing.
        #expect(third != first && third & 0xFFFF_FFFF == first & 0xFFFF_FFFF)
        #expect(remove(first) == nil)
        #expect(remove(second) == 1)
        #expect(remove(third) == 2)
        #expect(remove(.max) == nil)
        #expect([first, second, third].allSatisfy { $0 < 1 << 63 })
    }
}
