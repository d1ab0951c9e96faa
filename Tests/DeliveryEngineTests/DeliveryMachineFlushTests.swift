import DeliveryEngine
import EngineSupport
import Model
import Testing

/// Progress, outages, lost leases and the drain (I2, I10).
@Suite struct DeliveryMachineFlushTests {
    // Outcomes are flushed at least every 250 ms.
    @Test func outcomesAreFlushedWithinTheInterval() {
        var bench = MachineBench(targets: 3)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(100))
        #expect(bench.records.isEmpty)
        bench.pass(.milliseconds(150))
        #expect(bench.records.map(\.disposition) == [.goOn])
        #expect(bench.records.first?.lease.isDone(0) == true)
        #expect(bench.records.first?.lease.isDone(1) == false)
    }

    @Test func manyOutcomesDoNotWaitForTheInterval() {
        var bench = MachineBench(targets: 400)
        bench.complete(Array(0..<250), .yes)
        #expect(bench.records.map(\.results.count) == [250])
    }

    @Test func onlyOneFlushIsInProgress() {
        var bench = MachineBench(targets: 3)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        bench.complete([1, 2], .yes)
        bench.pass(.milliseconds(250))
        #expect(bench.records.count == 1)
        bench.recorded()
        #expect(bench.records.count == 2)
        #expect(bench.disposition == .finished)
        bench.recorded()
        #expect(bench.isFinished)
        #expect(bench.records.flatMap(\.results).map(\.index) == [0, 1, 2])
    }

    // A restart of PostgreSQL in the middle of a send loses nothing and repeats nothing while the process runs.
    @Test func outcomesAreKeptDuringAnOutageOfTheStore() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        bench.perform(bench.machine.recordFailed(now: bench.now))
        bench.complete([1], .yes)
        #expect(bench.records.count == 1)
        bench.pass(.milliseconds(50))
        #expect(bench.records.count == 1)
        bench.pass(.milliseconds(100))
        #expect(bench.records.count == 2)
        #expect(bench.records.last?.results.map(\.index) == [0, 1])
        #expect(bench.disposition == .finished)
        bench.recorded()
        #expect(bench.isFinished)
        #expect(bench.sent.count == 2)
    }

    @Test func waitForTheStoreDoubles() {
        var bench = MachineBench()
        bench.completeAll(.yes)
        for wait in [100, 200, 400] {
            bench.perform(bench.machine.recordFailed(now: bench.now))
            let before = bench.records.count
            bench.pass(.milliseconds(wait - 1))
            #expect(bench.records.count == before)
            bench.pass(.milliseconds(1))
            #expect(bench.records.count == before + 1)
        }
    }

    @Test func clockThatIsSetBackDoesNotStopTheFlush() {
        var bench = MachineBench()
        bench.completeAll(.yes)
        bench.perform(bench.machine.recordFailed(now: bench.now))
        bench.pass(.seconds(-3600))
        #expect(bench.records.count == 2)
    }

    @Test func workIsReadAgainAfterAFailure() {
        var bench = MachineBench(MachineBench.lease(1))
        bench.perform(bench.machine.loadFailed(now: bench.now))
        bench.pass(.milliseconds(50))
        #expect(bench.loads == 1)
        bench.pass(.milliseconds(50))
        bench.pass(.milliseconds(50))
        #expect(bench.loads == 2)
        bench.load(MachineBench.work(MachineBench.lease(1)))
        #expect(bench.sent.count == 1)
    }

    @Test func workThatCannotBeReadIsGivenUp() {
        var bench = MachineBench(MachineBench.lease(2))
        for count in 1..<32 {
            bench.perform(bench.machine.loadFailed(isFault: true, now: bench.now))
            #expect(bench.records.isEmpty)
            bench.pass(.seconds(6))
            #expect(bench.loads == count + 1)
        }
        bench.perform(bench.machine.loadFailed(isFault: true, now: bench.now))
        #expect(bench.disposition == .dead(reason: "loadFailed"))
        #expect(bench.results.isEmpty && bench.records.last?.countsAttempt == false)
        // Until the store has it.
        bench.perform(bench.machine.recordFailed(now: bench.now))
        bench.pass(.seconds(6))
        #expect(bench.records.count == 2 && bench.disposition == .dead(reason: "loadFailed"))
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func anOutageOfTheStoreGivesNothingUp() {
        var bench = MachineBench(MachineBench.lease(2))
        for count in 1..<200 {
            bench.perform(bench.machine.loadFailed(isFault: count % 32 != 0, now: bench.now))
            bench.pass(.seconds(6))
        }
        #expect(bench.records.isEmpty && bench.loads == 200)
    }

    @Test func fencedFlushEndsTheSliceSilently() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        #expect(bench.isFinished)
        bench.completeAll(.yes)
        bench.pass(.seconds(10))
        #expect(bench.records.count == 1)
    }

    @Test func lostLeaseStopsEverything() {
        var bench = MachineBench(targets: 2)
        bench.perform(bench.machine.fenced(epoch: 1))
        #expect(bench.isFinished)
        bench.completeAll(.yes)
        #expect(bench.records.isEmpty)
    }

    // The lease lapsed in an outage, and this node claimed the slice again: the state in memory is still valid.
    @Test func leaseThatThisNodeClaimedAgainContinuesWithoutRepeating() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        bench.machine.reclaimed(MachineBench.lease(2, epoch: 2))
        bench.perform(bench.machine.fenced(epoch: 1))
        #expect(!bench.isFinished)
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        #expect(bench.records.count == 2)
        #expect(bench.records.last?.lease.epoch == 2)
        #expect(bench.records.last?.results.map(\.index) == [0])
        bench.recorded()
        bench.complete([1], .yes)
        #expect(bench.disposition == .finished)
        #expect(bench.sent.count == 2)
    }

    @Test func targetsThatAnotherNodeSettledAreSkipped() {
        var bench = MachineBench(targets: 2)
        bench.complete([1], .notSent(.noCredential))
        bench.complete([0], .yes)
        #expect(bench.disposition == .again(after: .seconds(5), heldBy: "apple"))
        bench.machine.reclaimed(MachineBench.lease(2, epoch: 3, done: [1]))
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        #expect(bench.records.last?.lease.epoch == 3)
        #expect(bench.disposition == .finished)
    }

    // The flush that moved target 1 was written, its answer was lost, and this node claimed the slice again.
    @Test func targetsThatLeftTheSliceAreNotPushedUnderTheNextLease() {
        var bench = MachineBench(targets: 3)
        bench.complete([1], .busy())
        bench.complete([2], .notSent(.noCredential))
        bench.complete([0], .yes)
        #expect(bench.retries.count == 1)
        bench.perform(bench.machine.recordFailed(now: bench.now))
        bench.machine.reclaimed(MachineBench.lease(3, epoch: 2, done: [0, 1]))
        bench.pass(.milliseconds(100))
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        #expect(bench.records.last?.lease.epoch == 2)
        #expect(bench.disposition == .again(after: .seconds(5), heldBy: "apple"))
        #expect(bench.retries.isEmpty && bench.sent.count == 3)
    }

    @Test func readyTargetsThatAnotherNodeSettledAreNotPushed() {
        var bench = MachineBench(targets: 3, permit: .metered(1))
        bench.permit = .metered(0)
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        #expect(bench.disposition == .goOn)
        bench.machine.reclaimed(MachineBench.lease(3, epoch: 3, done: [1]))
        bench.perform(bench.machine.recorded(.fenced, now: bench.now))
        bench.permit = .go
        bench.pass(.milliseconds(125))
        #expect(bench.sent.map(\.slot) == [0, 2])
    }

    // MARK: Drain (I10)

    @Test func drainBeforeTheWorkIsReadReturnsTheLease() {
        var bench = MachineBench(MachineBench.lease(2))
        bench.perform(bench.machine.drainRequested(now: bench.now))
        #expect(bench.isReleased && bench.isFinished)
        bench.load(MachineBench.work(MachineBench.lease(2)))
        #expect(bench.sent.isEmpty)
    }

    @Test func drainAwaitsPushesAndReturnsTheRestAtOnce() {
        var bench = MachineBench(targets: 4, permit: .probe)
        bench.perform(bench.machine.drainRequested(now: bench.now))
        #expect(bench.records.isEmpty)
        bench.complete([0], .yes)
        #expect(bench.batches == [1])
        #expect(Set(bench.results.keys) == [0])
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func drainDoesNotResend() {
        var bench = MachineBench(targets: 2)
        bench.perform(bench.machine.drainRequested(now: bench.now))
        bench.completeAll(.notSent(.refused))
        #expect(bench.sent.count == 2)
        #expect(bench.disposition == .again(after: .zero))
    }

    // The successor must not repeat a push that no collapse id hides.
    @Test func pushesWithoutAnAnswerAtTheDeadlineCountAsSentWithoutConfirmation() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.perform(bench.machine.waitEnded(now: bench.now))
        #expect(bench.results[0]?.attempt.isCertain == true)
        #expect(bench.results[1]?.state == .sent)
        #expect(bench.results[1]?.attempt.isCertain == false)
        #expect(bench.disposition == .finished)
    }

    @Test func lateAnswerAfterTheDeadlineChangesNothing() {
        var bench = MachineBench(targets: 1)
        bench.perform(bench.machine.waitEnded(now: bench.now))
        bench.complete([0], .rejected(.content, "BadTopic"))
        #expect(bench.records.flatMap(\.results).count == 1)
    }
}
