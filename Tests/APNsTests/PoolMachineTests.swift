import HTTP2
import Model
import TestKit
import Testing

@testable import APNs

/// The life of a pool without a socket: dialing, credits, resends, tokens, and the shutdown.
struct PoolMachineTests {
    private let unsent = HTTP2Error(.refusedStream, isUnsent: true)
    private let lost = HTTP2Error(.connectionLost)
    private let expired = APNsAnswer(reason: .expiredProviderToken, status: 403)

    // MARK: Dialling and credits

    @Test func manyBatchesOnAColdPoolFetchOneTokenAndDialOnce() {
        var driver = PoolDriver()
        #expect(driver.enqueue(driver.job(10)).tokenRequests.count == 1)
        for _ in 0..<100 { #expect(driver.enqueue(driver.job(10)).actions.isEmpty) }
        driver.obtain(PoolDriver.token)
        #expect(driver.lastTurn.dialled == [1])
        #expect(driver.enqueue(driver.job(10)).dialled == [])
        #expect(driver.machine.metrics.connectCount == 1)
    }

    // docs/contracts/apns.md#11.1: one push until SETTINGS raise the limit.
    @Test func onlyAsManyPushesLeaveAsThereAreCredits() {
        var driver = PoolDriver()
        driver.enqueue(driver.job(500))
        driver.obtain(PoolDriver.token)
        driver.open(1, credits: 1)
        #expect(driver.inFlight[1]?.count == 1)
        driver.answer(1, .accepted)
        driver.credit(1, 200)
        #expect(driver.inFlight[1]?.count == 200)
        driver.credit(1, 0)
        #expect(driver.inFlight[1]?.count == 200)
        #expect(driver.machine.metrics.queuedCount == 299)
    }

    @Test func pushesAboveTheQueuesBoundAreReturnedAtOnce() {
        var limits = APNsLimits.oneConnection
        limits.maxQueuedPushes = 10
        var driver = PoolDriver(limits: limits)
        // A fifth of the queue is reserved for other clients.
        driver.enqueue(driver.job(11))
        #expect(driver.completions.map(\.slot) == [8, 9, 10])
        #expect(driver.completions.unsentCount(.overloaded) == 3)
        #expect(driver.machine.metrics.queuedCount == 8)
        driver.completions = []
        driver.enqueue(driver.job(3, first: 20, client: "other"))
        #expect(driver.completions.map(\.slot) == [22])
    }

    @Test func refusedSubmitsWaitForTheNextReport() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.enqueue(driver.job(10))
        let slots = (driver.inFlight.removeValue(forKey: 1) ?? []).map(\.slot)
        let now = driver.now
        driver.perform { machine, turn in machine.refused(Array(slots.suffix(4)), now: now, &turn) }
        #expect(driver.lastTurn.tickets.isEmpty)
        #expect(driver.machine.metrics.queuedCount == 4)
        driver.credit(1, 10)
        #expect(driver.lastTurn.tickets.count == 4)
        #expect(driver.completions.isEmpty)
    }

    // MARK: Resends

    @Test func unsentPushesAreSentAgainThreeTimesAndThenReturned() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.enqueue(driver.job(2))
        for _ in 0..<3 {
            driver.fail(1, unsent)
            #expect(driver.completions.isEmpty)
            driver.credit(1, 10)
            #expect(driver.inFlight[1]?.count == 2)
        }
        driver.fail(1, unsent)
        expectOncePerPush(driver.completions, count: 2)
        #expect(driver.completions.unsentCount(.refused) == 2)
        #expect(driver.machine.metrics.resentCount == 6)
    }

    @Test func pushThatMayHaveBeenProcessedIsNeverSentAgain() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.enqueue(driver.job(3))
        driver.fail(1, lost)
        expectOncePerPush(driver.completions, count: 3)
        #expect(driver.completions.indeterminateCount == 3)
        #expect(driver.machine.metrics.resentCount == 0)
    }

    @Test func goAwayMovesNewPushesToANewConnectionWhileTheOldOneDrains() {
        var driver = PoolDriver()
        driver.start(credits: 4)
        driver.enqueue(driver.job(6))
        let now = driver.now
        driver.perform { machine, turn in
            machine.leaving(1, now: now, &turn)
            machine.credited(1, 0, now: now, &turn)
        }
        #expect(driver.lastTurn.dialled == [2])
        driver.open(2, credits: 10)
        #expect(driver.inFlight[2]?.count == 1)
        #expect(driver.inFlight[1]?.count == 4)
        #expect(driver.machine.metrics.drainingConnectionCount == 1)
        driver.answer(2, .accepted)
        driver.credit(2, 10)
        driver.answer(1, .accepted)
        driver.close(1)
        driver.answer(2, .accepted)
        expectOncePerPush(driver.completions, count: 6)
        #expect(driver.machine.metrics.drainingConnectionCount == 0)
    }

    // MARK: Back-off and deadlines

    @Test func failedDialsBackOffAndPushesWaitUntilTheirDeadline() {
        var driver = PoolDriver()
        driver.enqueue(driver.job(2, deadline: .seconds(4)))
        driver.obtain(PoolDriver.token)
        driver.close(1, HTTP2Error(.connectFailed, isUnsent: true))
        #expect(driver.lastTurn.dialled == [])
        driver.pass(.milliseconds(499))
        #expect(driver.lastTurn.dialled == [])
        driver.pass(.milliseconds(1))
        #expect(driver.lastTurn.dialled == [2])
        driver.close(2, HTTP2Error(.connectFailed, isUnsent: true))
        driver.pass(.seconds(1))
        #expect(driver.lastTurn.dialled == [3])
        driver.pass(.seconds(3))
        #expect(driver.completions.unsentCount(.noConnection) == 2)
        #expect(driver.machine.metrics.connectFailureCount == 2)
        #expect(driver.machine.lastError == "connectFailed")
    }

    @Test func connectionLostAfterAnswersIsRedialledAtOnce() {
        var driver = PoolDriver()
        driver.start(credits: 2)
        driver.enqueue(driver.job(5))
        driver.fail(1, lost)
        driver.close(1, lost)
        #expect(driver.lastTurn.dialled == [2])
    }

    @Test func connectionThatNeverAnsweredCountsAsAFailure() {
        var driver = PoolDriver()
        driver.enqueue(driver.job(5))
        driver.obtain(PoolDriver.token)
        driver.open(1, credits: 1)
        driver.fail(1, lost)
        driver.close(1, lost)
        #expect(driver.lastTurn.dialled == [])
        #expect(driver.lastTurn.wakes == [driver.now + .milliseconds(500)])
    }

    // Half of the deadline is for waiting and half for the answer: a push that left at the last moment would have no
    // time for an answer.
    @Test func pushWithoutAFreeStreamTimesOutUnsentHalfWay() {
        var driver = PoolDriver()
        driver.start(credits: 1)
        driver.enqueue(driver.job(2, deadline: .seconds(6)))
        #expect(driver.lastTurn.wakes == [driver.now + .seconds(3)])
        driver.pass(.seconds(3))
        #expect(driver.completions.map(\.slot) == [1])
        #expect(driver.completions.unsentCount(.timedOut) == 1)
    }

    // MARK: Provider tokens

    // docs/contracts/apns.md#9: "new token and new connection, retry once".
    @Test func expiredProviderTokenIsRenewedAndThePushSentOnceMoreOnANewConnection() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.now += .minutes(30)
        driver.enqueue(driver.job(3))
        driver.answer(1, expired)
        #expect(driver.completions.isEmpty)
        #expect(driver.lastTurn.closedConnections == [1])
        driver.credit(1, 0)
        #expect(driver.lastTurn.tokenRequests == [PoolDriver.token])
        driver.obtain(PoolDriver.nextToken)
        #expect(driver.lastTurn.dialled == [2])
        driver.open(2, credits: 10)
        driver.answer(2, .accepted)
        driver.credit(2, 10)
        driver.answer(2, .accepted)
        expectOncePerPush(driver.completions, count: 3)
        #expect(driver.completions.acceptedCount == 3)
    }

    @Test func providerTokenRefusedTwiceDefersThePushAndDoesNotLoop() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.now += .minutes(30)
        driver.enqueue(driver.job(1))
        driver.answer(1, expired)
        driver.credit(1, 0)
        driver.obtain(PoolDriver.nextToken)
        driver.open(2, credits: 10)
        driver.answer(2, expired)
        // The second token is new, so no third one may be requested within 20 minutes.
        let rejection = Rejection(scope: .credential, reason: "ExpiredProviderToken", status: 403)
        #expect(driver.completions.outcome(0) == .deferred(rejection, after: .minutes(20)))
        #expect(driver.lastTurn.tokenRequests.isEmpty)
        #expect(driver.enqueue(driver.job(1)).tokenRequests.isEmpty)
    }

    @Test func tooManyTokenUpdatesOpensANewConnectionWithTheSameToken() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.now += .minutes(30)
        driver.enqueue(driver.job(1))
        driver.answer(1, APNsAnswer(reason: .tooManyProviderTokenUpdates, status: 429))
        driver.credit(1, 0)
        #expect(driver.lastTurn.tokenRequests.isEmpty)
        #expect(driver.lastTurn.dialled == [2])
        driver.open(2, credits: 1)
        driver.answer(2, .accepted)
        #expect(driver.completions.acceptedCount == 1)
    }

    @Test func tokenIsRenewedAtFiftyMinutesWhilePushesContinue() {
        var driver = PoolDriver()
        driver.start(credits: 100)
        driver.now += .minutes(50)
        let turn = driver.enqueue(driver.job(1))
        #expect(turn.tokenRequests.count == 1)
        #expect(turn.tickets.count == 1)
        #expect(driver.enqueue(driver.job(1)).tokenRequests.isEmpty)
        driver.obtain(PoolDriver.nextToken)
        let setTokens = driver.lastTurn.actions.contains {
            if case .setToken(1, PoolDriver.nextToken) = $0 { true } else { false }
        }
        #expect(setTokens)
    }

    @Test func noPushLeavesWithATokenOfAnHour() {
        var driver = PoolDriver()
        driver.start(credits: 100)
        driver.now += .minutes(59)
        let turn = driver.enqueue(driver.job(2, deadline: .seconds(60)))
        #expect(turn.tickets.isEmpty)
        #expect(turn.tokenRequests.count == 1)
        driver.obtain(PoolDriver.nextToken)
        #expect(driver.lastTurn.tickets.count == 2)
    }

    @Test func failedTokenLookupIsRetriedAfterABackoff() {
        var driver = PoolDriver()
        driver.enqueue(driver.job(1))
        let now = driver.now
        driver.perform { machine, turn in machine.tokenFailed(APNsError(.tokenUnavailable), now: now, &turn) }
        #expect(driver.lastTurn.tokenRequests.isEmpty)
        driver.pass(.milliseconds(500))
        #expect(driver.lastTurn.tokenRequests.count == 1)
        driver.obtain(PoolDriver.token)
        #expect(driver.lastTurn.dialled == [1])
    }

    // docs/contracts/apns.md#14: a 500 can leave a connection bad.
    @Test func secondServerErrorInARowRetiresTheConnection() {
        var driver = PoolDriver()
        driver.start(credits: 1)
        let serverError = APNsAnswer(reason: .internalServerError, status: 500)
        driver.enqueue(driver.job(1))
        driver.answer(1, serverError)
        #expect(driver.lastTurn.closedConnections.isEmpty)
        driver.credit(1, 1)
        driver.enqueue(driver.job(1, first: 1))
        driver.answer(1, serverError)
        #expect(driver.lastTurn.closedConnections == [1])
        let rejection = Rejection(scope: .service, reason: "InternalServerError", status: 500)
        #expect(
            driver.completions.map(\.outcome) == [.deferred(rejection, after: nil), .deferred(rejection, after: nil)]
        )
    }

    // MARK: The end

    @Test func retiredPoolReturnsWaitingPushesAndFinishesThoseInFlight() {
        var driver = PoolDriver()
        driver.start(credits: 3)
        driver.enqueue(driver.job(5))
        var left: [FairQueue.Run] = []
        driver.perform { machine, turn in left = machine.retired(&turn) }
        #expect(left.flatMap { $0.remaining } == [3, 4])
        #expect(driver.lastTurn.closedConnections == [1])
        #expect(!driver.lastTurn.hasEnded)
        driver.answer(1, .accepted)
        #expect(driver.completions.map(\.slot).sorted() == [0, 1, 2])
        driver.close(1)
        #expect(driver.lastTurn.hasEnded)
        var isTaken = true
        let run = FairQueue.Run(driver.job(1), [0])
        let now = driver.now
        driver.perform { machine, turn in isTaken = machine.enqueued(run, now: now, &turn) }
        #expect(!isTaken)
    }

    @Test func abandonedPoolCompletesEverythingAndLateReportsChangeNothing() {
        var driver = PoolDriver()
        driver.start(credits: 3)
        driver.enqueue(driver.job(5))
        driver.perform { machine, turn in machine.abandoned(&turn) }
        expectOncePerPush(driver.completions, count: 5)
        #expect(driver.completions.indeterminateCount == 3)
        #expect(driver.completions.unsentCount(.goingAway) == 2)
        #expect(driver.lastTurn.hasEnded)
        driver.answer(1, .accepted)
        driver.close(1)
        expectOncePerPush(driver.completions, count: 5)
        #expect(!driver.lastTurn.hasEnded)
    }

    @Test func batchOfACancelledCallerLeavesTheQueue() {
        var driver = PoolDriver()
        driver.start(credits: 1)
        let gone = driver.job(5)
        driver.enqueue(gone)
        driver.perform { machine, _ in #expect(machine.canceled(gone) == [1, 2, 3, 4]) }
        #expect(driver.machine.metrics.queuedCount == 0)
        driver.answer(1, .accepted)
        #expect(driver.machine.metrics.acceptedCount == 2)
    }

    // MARK: Random events

    /// 400 random lives: in any order of events, each push completes exactly once.
    @Test(arguments: 0..<8) func everyPushCompletesExactlyOnceInAnyOrderOfEvents(seed: UInt64) {
        var random = SplitMix(state: seed &* 7919 &+ 1)
        for _ in 0..<50 {
            var limits = APNsLimits()
            limits.maxQueuedPushes = 60
            limits.maxPushesInFlight = 30
            limits.maxConnections = Int.random(in: 1...4, using: &random)
            var driver = PoolDriver(limits: limits, jitter: Double.random(in: 0..<1, using: &random))
            var sent = 0
            if Bool.random(using: &random) { driver.perform { $0.warmed(2, now: .now, &$1) } }
            for _ in 0..<120 { live(&driver, &sent, &random) }
            driver.perform { machine, turn in machine.abandoned(&turn) }
            expectOncePerPush(driver.completions, count: sent)
            #expect(driver.machine.metrics.inFlightCount == 0)
        }
    }

    private func live(_ driver: inout PoolDriver, _ sent: inout Int, _ random: inout SplitMix) {
        let now = driver.now
        let connection = Int.random(in: 1...max(1, driver.machine.metrics.connectCount), using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0, 1:
            let count = Int.random(in: 1...25, using: &random)
            driver.enqueue(driver.job(count, first: sent, deadline: .seconds(Int.random(in: 1...30, using: &random))))
            sent += count
        case 2: driver.obtain(Bool.random(using: &random) ? PoolDriver.token : PoolDriver.nextToken)
        case 3: driver.perform { $0.tokenFailed(APNsError(.tokenUnavailable), now: now, &$1) }
        case 4: driver.open(connection, credits: Int.random(in: 0...40, using: &random))
        case 5: driver.credit(connection, Int.random(in: 0...40, using: &random))
        case 6, 7: driver.answer(connection, .accepted)
        case 8: driver.answer(connection, expired)
        case 9: driver.fail(connection, Bool.random(using: &random) ? unsent : lost)
        case 10:
            driver.fail(connection, Bool.random(using: &random) ? unsent : lost)
            driver.close(connection, lost)
        case 11: driver.perform { $0.leaving(connection, now: now, &$1) }
        default: driver.pass(.milliseconds(Int.random(in: 0...8_000, using: &random)))
        }
    }
}
