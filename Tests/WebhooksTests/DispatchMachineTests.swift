import Model
import TestKit
import Testing
import Webhooks

// docs/contracts/rationalowl.md#8.6: any 2xx is accepted; otherwise 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h in all, then dropped.
@Suite struct DispatchMachineTests {
    private let machine = DispatchMachine(WebhookPolicy())
    private let batch = WebhookBatch(deliveries: [], cursor: 7, hasMore: false)

    private func lease(attempts: Int, failingFor: Duration) -> WebhookLease {
        WebhookLease(
            tenant: "t",
            subscriber: .sender("s", "a", .rationalOwl, .unbound),
            url: "https://a.example/",
            secret: .derived,
            epoch: 1,
            cursor: 0,
            attempts: attempts,
            failingFor: failingFor,
            claimedAt: Timestamp(milliseconds: 0)
        )
    }

    @Test func anAcceptedCallMovesOn() {
        #expect(machine.callEnded(.accepted, lease(attempts: 3, failingFor: .seconds(60)), batch) == .advance(7))
    }

    @Test(arguments: [
        (0, 0, 5), (1, 5, 30), (2, 35, 120), (3, 155, 600), (4, 755, 3600), (5, 4355, 21_600), (6, 25_955, 21_600),
    ])
    func failuresWaitLongerEachTime(_ attempts: Int, _ failing: Int, _ wait: Int) {
        let action = machine.callEnded(
            .refused(status: 500),
            lease(attempts: attempts, failingFor: .seconds(failing)),
            batch
        )
        #expect(action == .postpone(.seconds(wait), reason: "status 500"))
    }

    @Test func theLastAttemptIsAtTheEndOfTheDayThenTheCallIsDropped() {
        let late = machine.callEnded(.forbidden, lease(attempts: 8, failingFor: .seconds(86_000)), batch)
        #expect(late == .postpone(.seconds(400), reason: "forbidden address"))
        let over = machine.callEnded(.failed("timeout"), lease(attempts: 9, failingFor: .seconds(86_400)), batch)
        #expect(over == .drop(7, reason: "timeout"))
    }

    // docs/webhooks.md, "Order": a failure after progress is the first one.
    @Test func parallelCallsAdvanceOrPostponeToWhatTheyReached() {
        var lease = lease(attempts: 3, failingFor: .seconds(72 * 3600))
        lease.subscriber = .webhook(WebhookID(rawValue: TestIdentifiers().uuid(at: lease.claimedAt)), EventFilter())
        #expect(machine.callsEnded(nil, lease, reached: 5) == .advance(5))
        let failure = CallOutcome.refused(status: 503)
        #expect(machine.callsEnded(failure, lease, reached: 5) == .postpone(.seconds(5), reason: "status 503"))
        #expect(machine.callsEnded(failure, lease, reached: lease.cursor) == .stop(reason: "status 503"))
    }

    // docs/webhooks.md: after three days a webhook is stopped at its position; no event is dropped.
    @Test func aWebhookIsTriedForThreeDaysAndThenStopped() {
        var late = lease(attempts: 20, failingFor: .seconds(72 * 3600 - 60))
        late.subscriber = .webhook(WebhookID(rawValue: TestIdentifiers().uuid(at: late.claimedAt)), EventFilter())
        #expect(machine.callEnded(.failed("timeout"), late, batch) == .postpone(.seconds(60), reason: "timeout"))
        late.failingFor = .seconds(72 * 3600)
        #expect(machine.callEnded(.failed("timeout"), late, batch) == .stop(reason: "timeout"))
        #expect(machine.callEnded(.accepted, late, batch) == .advance(7))
    }

    // RFC 4231, test case 2.
    @Test func theSignatureIsTheHMACOfTheBody() {
        let body = Array("what do ya want for nothing?".utf8)
        #expect(
            Signature.of(body, secret: Array("Jefe".utf8))
                == "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }
}
