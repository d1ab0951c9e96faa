import HTTP2
import Model
import Synchronization
import Testing

@testable import APNs

/// One push and its caller: the caller is answered once, the push can be canceled in every state, and nothing is left
/// behind.
struct SingleSendTests {
    private let group = SingleSends.Group(
        credential: CredentialKey(tenant: "acme", credential: "apple"),
        deadline: .seconds(1)
    )
    private let canceled = Outcome.unsent(TransportError(.canceled))
    private let fetches = Counter()

    /// The number of fetch requests of the hall.
    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    private func hall() -> SingleSends {
        SingleSends { [fetches] in fetches.count.add(1, ordering: .relaxed) }
    }

    private func job(_ pushes: [Push], _: SingleSends.Group, _ callers: SingleCallers) -> SendJob {
        let now = ContinuousClock.now
        return SendJob(
            pushes,
            client: "acme",
            offeredAt: now,
            deadline: now + .seconds(1),
            sink: .callers(callers)
        )
    }

    /// Adds a push, runs `body`, and returns the answer of its caller.
    private func outcome(_ hall: SingleSends, _ body: (UInt64) -> Void) async -> Outcome {
        let id = hall.newID()
        return await Waiter.wait { (caller: SingleSends.Caller) in
            guard case .taken = hall.add(id, makePush(7), group, caller) else {
                return caller.resume(returning: canceled)
            }
            body(id)
        }
    }

    private func fail(_ what: Comment) { Issue.record(what) }

    private func accepted(_ slot: Int, _ id: String = "id") -> PushCompletion {
        PushCompletion(slot: slot, outcome: .accepted(TransportMessageID(id)))
    }

    @Test func callerGetsTheFirstAnswerOnceItIsPassedOn() async {
        let hall = hall()
        let answer = await outcome(hall) { _ in
            let batches = hall.takeAll(job)
            #expect(batches.count == 1 && hall.takeAll(job).isEmpty)
            // The position in the batch identifies the push, whatever its own slot was.
            batches.first?.job.complete([0], .unsent(TransportError(.timedOut)))
            batches.first?.job.complete([accepted(0, "late"), accepted(7), accepted(-1)])
            #expect(fetches.count.load(ordering: .relaxed) == 2)
            hall.passOn()
        }
        #expect(answer == .unsent(TransportError(.timedOut)))
    }

    // The hall keeps its batches, and each batch keeps its callers. An answered caller is released.
    @Test func answeredPushesKeepNoBatch() async {
        let hall = hall()
        weak var kept: SendJob?
        let answer = await outcome(hall) { _ in
            let batches = hall.takeAll(job)
            kept = batches.first?.job
            for batch in batches {
                #expect(hall.offered(batch).isEmpty)
                batch.job.complete([accepted(0)])
            }
            hall.passOn()
        }
        #expect(answer == .accepted(TransportMessageID("id")))
        #expect(kept == nil)
    }

    @Test func cancellationFindsThePushWhereverItIs() async {
        let hall = hall()
        let waiting = await outcome(hall) { id in
            guard case .waiting(let caller) = hall.cancel(id) else { return fail("not found") }
            caller.resume(returning: canceled)
            // A batch whose pushes were all canceled is removed.
            #expect(hall.takeAll(job).isEmpty)
        }
        #expect(waiting == canceled)
        let leaving = await outcome(hall) { id in
            let batches = hall.takeAll(job)
            // The push was not offered yet. The task that offers it is notified once.
            guard case .settled = hall.cancel(id) else { return fail("not settled") }
            #expect(batches.map(hall.offered) == [[0]])
            #expect(batches.map(hall.offered) == [[]])
            guard case .sent(let batch, 0) = hall.cancel(id) else { return fail("not sent") }
            #expect(batch.job === batches.first?.job)
            batch.job.complete([PushCompletion(slot: 0, outcome: canceled)])
            hall.passOn()
            guard case .settled = hall.cancel(id) else { return fail("found after its end") }
        }
        #expect(leaving == canceled)
    }

    @Test func cancelledTaskIsNotTaken() async {
        let hall = hall()
        let (until, _) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Ends when the task is canceled.
            for await _ in until {}
            return await outcome(hall) { _ in fail("the push was accepted") }
        }
        task.cancel()
        #expect(await task.value == canceled)
        #expect(hall.takeAll(job).isEmpty)
    }

    @Test func concurrentPushesAreBatchedByCredentialAndDeadline() async {
        let hall = hall()
        let other = SingleSends.Group(credential: group.credential, deadline: .seconds(2))
        await withTaskGroup(of: Outcome.self) { tasks in
            for number in 0..<12 {
                let id = hall.newID()
                tasks.addTask {
                    await Waiter.wait { (caller: SingleSends.Caller) in
                        _ = hall.add(id, makePush(number), number.isMultiple(of: 3) ? other : group, caller)
                    }
                }
            }
            var batches: [SingleSends.Batch] = []
            while batches.reduce(0, { $0 + $1.job.pushes.count }) < 12 {
                batches += hall.takeAll(job)
                await Task.yield()
            }
            for batch in batches {
                #expect(batch.job.pushes.allSatisfy { $0.slot.isMultiple(of: 3) == (batch.group == other) })
                batch.job.complete(batch.job.pushes.indices, .unsent(TransportError(.goingAway)))
            }
            hall.passOn()
            for await outcome in tasks { #expect(outcome == .unsent(TransportError(.goingAway))) }
        }
    }

    @Test func closedHallRefusesPushesAtOnce() async {
        let hall = hall()
        let first = await outcome(hall) { _ in
            for caller in hall.close() { caller.resume(returning: .unsent(TransportError(.goingAway))) }
        }
        #expect(first == .unsent(TransportError(.goingAway)))
        let second = await outcome(hall) { _ in fail("the push was accepted") }
        #expect(second == canceled)
    }

    @Test func pushesInProgressAtTheCloseAreAnsweredWithoutAFetch() async {
        let hall = hall()
        let answer = await outcome(hall) { _ in
            for batch in hall.takeAll(job) { batch.job.complete([accepted(0)]) }
            #expect(hall.close().isEmpty)
        }
        #expect(answer == .accepted(TransportMessageID("id")))
        let late = self.hall()
        let lateAnswer = await outcome(late) { _ in
            let batches = late.takeAll(job)
            #expect(late.close().isEmpty)
            for batch in batches { batch.job.complete([accepted(0)]) }
        }
        #expect(lateAnswer == .accepted(TransportMessageID("id")))
    }
}
