import HTTP2
import Model
import TestKit
import Testing

@testable import APNs

/// Several connections: when the pool opens more, which connection gets a push, and how connections close.
struct PoolGrowthTests {
    private let refused = HTTP2Error(.refusedStream, isUnsent: true)
    private let serverError = APNsAnswer(reason: .internalServerError, status: 500)

    private func limits(_ connections: Int = 3) -> APNsLimits {
        var limits = APNsLimits()
        limits.maxConnections = connections
        return limits
    }

    // MARK: The stream gate

    // docs/contracts/apns.md#11.1: one stream until a push with a valid token was accepted, whatever the first
    // SETTINGS allow.
    @Test func tokenConnectionSendsOnePushUntilItIsAnswered() {
        var driver = PoolDriver()
        driver.enqueue(driver.job(50))
        driver.obtain(PoolDriver.token)
        driver.open(1, credits: 1_000)
        #expect(driver.inFlight[1]?.count == 1)
        driver.credit(1, 1_000)
        #expect(driver.inFlight[1]?.count == 1)
        driver.answer(1, .accepted)
        driver.credit(1, 1_000)
        #expect(driver.inFlight[1]?.count == 49)
    }

    // docs/contracts/apns.md#11.1: "certificate: full limit at once".
    @Test func certificateConnectionSendsAtOnceWithoutAToken() {
        var driver = PoolDriver(authentication: .certificate)
        #expect(driver.enqueue(driver.job(50)).dialled == [1])
        #expect(driver.lastTurn.tokenRequests.isEmpty)
        driver.open(1, credits: 1_000)
        #expect(driver.inFlight[1]?.count == 50)
        driver.now += .minutes(120)
        #expect(driver.enqueue(driver.job(1, first: 50)).tickets.count == 1)
    }

    @Test func refusalOfThePushOpensTheGateButARefusalOfTheSenderDoesNot() {
        for (answer, isOpen) in [
            (APNsAnswer(reason: .badDeviceToken, status: 400), true),
            (APNsAnswer(reason: .unregistered, status: 410), true),
            (APNsAnswer(reason: .invalidProviderToken, status: 403), false),
            (APNsAnswer(reason: .forbidden, status: 403), false),
            (APNsAnswer(reason: .serviceUnavailable, status: 503), false),
        ] {
            var driver = PoolDriver()
            driver.enqueue(driver.job(10))
            driver.obtain(PoolDriver.token)
            driver.open(1, credits: 1_000)
            driver.answer(1, answer)
            driver.credit(1, 1_000)
            #expect(driver.inFlight[1]?.count == (isOpen ? 9 : 1), "\(answer)")
        }
    }

    @Test func gateFollowsThePeersLimitDownAndUp() {
        var driver = PoolDriver()
        driver.start(credits: 500)
        driver.enqueue(driver.job(1_000))
        #expect(driver.inFlight[1]?.count == 500)
        // SETTINGS reduced the limit to 1: no push leaves until the open streams have ended.
        driver.perform { machine, _ in machine.limited(1, to: 1) }
        driver.credit(1, 0)
        driver.answer(1, .accepted)
        #expect(driver.machine.metrics.allowedStreamCount == 1)
        driver.credit(1, 1)
        #expect(driver.inFlight[1]?.count == 1)
        driver.credit(1, 499)
        #expect(driver.inFlight[1]?.count == 500)
    }

    // MARK: Growth

    @Test func fullConnectionsAreJoinedByAnotherAfterAWhileOneAtATime() {
        var driver = PoolDriver(limits: limits())
        driver.start(credits: 10)
        driver.enqueue(driver.job(100))
        driver.pass(.milliseconds(499))
        #expect(driver.lastTurn.dialled == [])
        driver.pass(.milliseconds(1))
        #expect(driver.lastTurn.dialled == [2])
        // The pool dials one connection, and no further one meanwhile.
        driver.pass(.seconds(2))
        #expect(driver.lastTurn.dialled == [])
        driver.open(2, credits: 1)
        #expect(driver.inFlight[2]?.count == 1)
        #expect(driver.lastTurn.dialled == [3])
        driver.open(3, credits: 1)
        driver.pass(.seconds(5))
        #expect(driver.lastTurn.dialled == [])
        #expect(driver.machine.metrics.openConnectionCount == 3)
    }

    @Test func burstOfOneRoundTripOpensNoConnection() {
        var driver = PoolDriver(limits: limits())
        driver.start(credits: 10)
        driver.enqueue(driver.job(15))
        driver.pass(.milliseconds(400))
        driver.answer(1, .accepted)
        driver.credit(1, 10)
        driver.answer(1, .accepted)
        driver.credit(1, 10)
        driver.enqueue(driver.job(15, first: 20))
        driver.pass(.milliseconds(400))
        #expect(driver.lastTurn.dialled == [])
        #expect(driver.machine.metrics.connectCount == 1)
    }

    @Test func failedDialWithAnOpenConnectionAffectsNoPush() {
        var driver = PoolDriver(limits: limits())
        driver.start(credits: 10)
        driver.enqueue(driver.job(100))
        driver.pass(.milliseconds(500))
        driver.close(2, HTTP2Error(.connectTimeout, isUnsent: true))
        driver.answer(1, .accepted)
        driver.credit(1, 10)
        #expect(driver.inFlight[1]?.count == 10)
        #expect(driver.completions.count == 10)
        #expect(driver.machine.metrics.connectFailureCounts == ["connectTimeout": 1])
        // The pool dials again only after the back-off: half of one second, because the jitter is 0.5.
        driver.pass(.milliseconds(499))
        #expect(driver.lastTurn.dialled == [])
        driver.pass(.milliseconds(1))
        #expect(driver.lastTurn.dialled == [3])
    }

    @Test func warmConnectionsAreDialledWithoutAnyPushAndAgainWhenTheyEnd() {
        var driver = PoolDriver(limits: limits())
        let now = driver.now
        driver.perform { machine, turn in machine.warmed(2, now: now, &turn) }
        #expect(driver.lastTurn.tokenRequests.count == 1)
        driver.obtain(PoolDriver.token)
        #expect(driver.lastTurn.dialled == [1])
        driver.open(1, credits: 1)
        #expect(driver.lastTurn.wakes == [driver.now + .milliseconds(500)])
        driver.pass(.milliseconds(500))
        #expect(driver.lastTurn.dialled == [2])
        driver.open(2, credits: 1)
        driver.pass(.seconds(60))
        #expect(driver.lastTurn.dialled == [])
        // The peer closes an idle connection in the regular way.
        driver.close(1)
        driver.pass(.seconds(1))
        #expect(driver.machine.metrics.connectCount == 3)
    }

    // MARK: Which connection

    @Test func pushesAreSpreadByTheFreeStreamsOfConnections() {
        var driver = two()
        driver.enqueue(driver.job(300, first: 1_000))
        #expect((driver.inFlight[1]?.count ?? 0) + (driver.inFlight[2]?.count ?? 0) == 300)
        #expect(abs((driver.inFlight[1]?.count ?? 0) - (driver.inFlight[2]?.count ?? 0)) <= 64)
    }

    // docs/contracts/apns.md#13.4: "resend, prefer another connection".
    @Test func refusedStreamIsSentAgainOnAnotherConnection() {
        var driver = two()
        driver.credit(2, 0)
        driver.enqueue(driver.job(5, first: 1_000))
        #expect(driver.inFlight[1]?.count == 5)
        driver.credit(2, 5)
        driver.fail(1, refused)
        driver.credit(1, 500)
        #expect(driver.inFlight[2]?.count == 5)
        #expect(driver.inFlight[1] == nil)
    }

    // docs/contracts/apns.md#14: a 500 can leave a connection bad.
    @Test func connectionThatAnswered500IsPingedAndUsedLast() {
        var driver = two()
        driver.credit(2, 0)
        driver.enqueue(driver.job(1, first: 1_000))
        driver.answer(1, serverError)
        #expect(driver.lastTurn.pinged == [1])
        driver.credit(1, 400)
        driver.credit(2, 5)
        driver.enqueue(driver.job(5, first: 2_000))
        #expect(driver.inFlight[2]?.count == 5)
        driver.enqueue(driver.job(1, first: 3_000))
        #expect(driver.inFlight[1]?.count == 1)
    }

    @Test func connectionWithoutAWindowIsUsedLast() {
        var driver = two()
        let now = driver.now
        driver.perform { machine, turn in machine.credited(1, 500, isWindowLow: true, now: now, &turn) }
        driver.credit(2, 3)
        driver.enqueue(driver.job(3, first: 1_000))
        #expect(driver.inFlight[2]?.count == 3)
    }

    /// A pool with two open connections that have answered.
    private func two() -> PoolDriver {
        var driver = PoolDriver(limits: limits(2))
        driver.start(credits: 10)
        driver.enqueue(driver.job(20))
        driver.pass(.milliseconds(500))
        driver.open(2, credits: 1)
        driver.answer(2, .accepted)
        driver.credit(2, 200)
        driver.answer(1, .accepted)
        driver.answer(2, .accepted)
        driver.credit(1, 200)
        driver.answer(1, .accepted)
        driver.credit(1, 200)
        driver.credit(2, 200)
        driver.completions = []
        return driver
    }

    // MARK: Closing

    // docs/contracts/apns.md#11.2: the reason in the GOAWAY is one of the reasons of answers, and
    // BadCertificateEnvironment arrives only this way.
    @Test func goAwayAboutTheCredentialRejectsWaitingPushes() {
        var driver = PoolDriver(authentication: .certificate)
        driver.enqueue(driver.job(10))
        driver.open(1, credits: 2)
        let now = driver.now
        driver.fail(1, HTTP2Error(.goAway, isUnsent: true))
        driver.perform { machine, turn in machine.goneAway(1, reason: .badCertificateEnvironment, now: now, &turn) }
        driver.close(1)
        let rejection = Rejection(scope: .credential, reason: "BadCertificateEnvironment", status: 0)
        #expect(driver.completions.count == 10)
        #expect(driver.completions.allSatisfy { $0.outcome == .rejected(rejection) })
        // The next push may cause another attempt, but not immediately.
        #expect(driver.enqueue(driver.job(1)).dialled == [])
        #expect(driver.machine.metrics.goAwayCounts == ["BadCertificateEnvironment": 1])
    }

    // pushy#312: two GOAWAY frames in a row.
    @Test func secondGoAwayChangesNothing() {
        var driver = PoolDriver()
        driver.start(credits: 10)
        driver.enqueue(driver.job(5))
        let now = driver.now
        for _ in 0..<2 {
            driver.perform { machine, turn in machine.goneAway(1, reason: .shutdown, now: now, &turn) }
        }
        driver.enqueue(driver.job(1, first: 5))
        #expect(driver.lastTurn.dialled == [2])
        driver.answer(1, .accepted)
        driver.close(1)
        driver.open(2, credits: 5)
        driver.answer(2, .accepted)
        expectOncePerPush(driver.completions, count: 6)
        #expect(driver.machine.metrics.connectCount == 2)
        #expect(driver.machine.metrics.goAwayCounts == ["Shutdown": 2])
    }

    @Test func shutdownAndIdleTimeoutAnswersTakeTheirConnectionOutOfUse() {
        for reason in [APNsReason.shutdown, .idleTimeout] {
            var driver = PoolDriver()
            driver.start(credits: 10)
            driver.enqueue(driver.job(1))
            driver.answer(1, APNsAnswer(reason: reason, status: reason == .shutdown ? 503 : 400))
            #expect(driver.lastTurn.closedConnections == [1])
            driver.credit(1, 100)
            driver.enqueue(driver.job(1, first: 1))
            #expect(driver.lastTurn.tickets.isEmpty)
        }
    }

    @Test func answersOfAnOldConnectionDoNotHideFailedDials() {
        var driver = PoolDriver(limits: limits(2))
        driver.start(credits: 1)
        driver.enqueue(driver.job(400))
        var gaps: [Int] = []
        for _ in 0..<5 {
            var waited = 0
            while driver.lastTurn.dialled.isEmpty, waited < 100_000 {
                driver.pass(.milliseconds(100))
                waited += 100
            }
            gaps.append(waited)
            driver.close(driver.lastTurn.dialled.first ?? 0, HTTP2Error(.connectFailed, isUnsent: true))
            driver.answer(1, .accepted)
            driver.credit(1, 1)
        }
        #expect(gaps.last ?? 0 >= 4_000, "\(gaps)")
    }

    // MARK: Tokens on several connections

    @Test func expiredTokenRefersToTheTokenOfThePush() {
        var driver = two()
        driver.now += .minutes(30)
        driver.enqueue(driver.job(150, first: 1_000))
        #expect(driver.inFlight.keys.sorted() == [1, 2])
        driver.obtain(PoolDriver.nextToken, age: .minutes(25))
        // Both pushes left with the first token; the second token is 25 minutes old and has not been refused.
        for id in [1, 2] { driver.answer(id, APNsAnswer(reason: .expiredProviderToken, status: 403)) }
        driver.credit(1, 0)
        #expect(driver.lastTurn.tokenRequests.isEmpty)
        #expect(driver.lastTurn.dialled == [3])
    }

    @Test func everyUsableConnectionGetsTheNewToken() {
        var driver = two()
        driver.obtain(PoolDriver.nextToken)
        let updated = driver.lastTurn.actions.compactMap { if case .setToken(let id, _) = $0 { id } else { nil } }
        #expect(updated == [1, 2])
    }

    @Test func noPushLeavesWithAnExpiredToken() {
        var driver = two()
        driver.now += .minutes(30)
        driver.credit(2, 0)
        driver.enqueue(driver.job(1, first: 1_000))
        driver.credit(2, 10)
        driver.answer(1, APNsAnswer(reason: .expiredProviderToken, status: 403))
        driver.credit(2, 10)
        // Connection 2 has free streams, but the current token is stale.
        #expect(driver.inFlight[2] == nil)
        #expect(driver.machine.token.isObtaining)
        driver.obtain(PoolDriver.nextToken)
        #expect(driver.inFlight[2]?.count == 1)
    }
}
