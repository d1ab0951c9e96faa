import Model
import Testing

@testable import APNs

/// One push and its caller: answered once, cancelled wherever it is, and nothing left behind.
struct SingleSendTests {
    private let credential = CredentialKey(tenant: "acme", credential: "apple")

    /// Runs `body` with one that waits, and gives what its caller was answered.
    private func outcome(_ body: (SingleSend) -> Void) async -> Outcome {
        await withCheckedContinuation { caller in
            let send = SingleSend(makePush(0), through: credential, deadline: .seconds(1))
            #expect(send.awaited(by: caller))
            body(send)
        }
    }

    private func job(_ sends: [SingleSend]) -> SendJob {
        let now = ContinuousClock.now
        return SendJob(
            sends.indices.map { makePush($0) },
            client: "acme",
            offeredAt: now,
            deadline: now + .seconds(1),
            sink: .callers(sends)
        )
    }

    @Test func callerHearsTheFirstAnswerOnly() async {
        let heard = await outcome { send in
            send.end(.unsent(TransportError(.goingAway)))
            send.end(.accepted(TransportMessageID("late")))
        }
        #expect(heard == .unsent(TransportError(.goingAway)))
    }

    // The batch holds its callers, and each knows its batch: whoever is answered lets go.
    @Test func answeredPushesKeepNoBatch() async {
        weak var kept: SendJob?
        let heard = await outcome { send in
            let job = job([send])
            kept = job
            #expect(!send.sent(job, 0))
            job.complete([PushCompletion(slot: 0, outcome: .accepted(TransportMessageID("id")))])
        }
        #expect(heard == .accepted(TransportMessageID("id")))
        #expect(kept == nil)
    }

    @Test func cancellationFindsThePushWhereverItIs() async {
        _ = await outcome { send in
            #expect(send.canceled() == nil)
            // It was in the hall: whoever puts it in a batch is told.
            #expect(send.sent(job([send]), 0))
            send.end(.unsent(TransportError(.canceled)))
            #expect(send.canceled() == nil)
        }
        _ = await outcome { send in
            let job = job([send])
            #expect(!send.sent(job, 0))
            #expect(send.canceled()?.0 === job)
            send.end(.unsent(TransportError(.canceled)))
        }
    }

    @Test func cancellationBeforeTheWaitIsTold() async {
        let send = SingleSend(makePush(0), through: credential, deadline: .seconds(1))
        #expect(send.canceled() == nil)
        let heard = await withCheckedContinuation { caller in
            #expect(!send.awaited(by: caller))
            send.end(.unsent(TransportError(.canceled)))
        }
        #expect(heard == .unsent(TransportError(.canceled)))
    }

    @Test func completionOfAStrangersSlotIsDropped() async {
        let heard = await outcome { send in
            let job = job([send])
            _ = send.sent(job, 0)
            job.complete([PushCompletion(slot: 7, outcome: .accepted(TransportMessageID("x")))])
            job.complete([PushCompletion(slot: 0, outcome: .unsent(TransportError(.timedOut)))])
        }
        #expect(heard == .unsent(TransportError(.timedOut)))
    }

    @Test func closedHallTakesNobody() async {
        let sends = SingleSends()
        let first = await outcome { send in
            guard case .first = sends.add(send) else { return #expect(Bool(false)) }
            for waiting in sends.close() { waiting.end(.unsent(TransportError(.goingAway))) }
        }
        #expect(first == .unsent(TransportError(.goingAway)))
        _ = await outcome { send in
            guard case .closed = sends.add(send) else { return #expect(Bool(false)) }
            send.end(.unsent(TransportError(.goingAway)))
        }
    }
}
