import DeliveryEngine
import EngineSupport
import FoundationEssentials
import Model
import Testing

/// The circuit breaker of one credential (docs/contracts/apns.md#13.6).
@Suite struct CredentialBreakerTests {
    private let start = Timestamp(seconds: 1_764_547_200)
    private let refusal = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)

    private func permit(_ breaker: inout CredentialBreaker, after seconds: Int, lane: Lane = .bulk) -> Permit {
        breaker.permit(lane: lane, now: start + .seconds(seconds), probeLimit: .seconds(20))
    }

    @Test func workingCredentialMaySend() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        #expect(permit(&breaker, after: 0) == .go)
        #expect(breaker.observed(.answered, now: start) == nil)
        #expect(breaker.isIdle)
    }

    @Test func refusalStopsItForAMinute() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        #expect(breaker.observed(.refused(refusal), now: start) == .stopped(refusal))
        #expect(permit(&breaker, after: 10) == .stopped(for: .seconds(50)))
        #expect(breaker.refusal == refusal)
    }

    @Test func refusalsOfPushesAlreadyOnTheirWayDoNotMakeItLonger() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.refused(refusal), now: start)
        for _ in 0..<500 { #expect(breaker.observed(.refused(refusal), now: start + .seconds(1)) == nil) }
        #expect(breaker.observed(.answered, now: start + .seconds(1)) == nil)
        #expect(permit(&breaker, after: 59) == .stopped(for: .seconds(1)))
    }

    // A target takes its next path after this time.
    @Test func anOutageBeginsWithTheFirstStopAndARefusalHasNoDuration() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        #expect(breaker.outage(start) == .zero)
        for second in [0, 5, 20] {
            _ = breaker.observed(.unreachable, now: start + .seconds(second))
            _ = permit(&breaker, after: second + 4)
        }
        #expect(breaker.outage(start + .seconds(25)) == .seconds(25))
        _ = breaker.observed(.answered, now: start + .seconds(26))
        #expect(breaker.outage(start + .seconds(30)) == .zero)
        _ = breaker.observed(.refused(refusal), now: start + .seconds(31))
        #expect(breaker.outage(start + .seconds(32)) == nil)
    }

    @Test func afterTheWaitOneSliceProbes() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.refused(refusal), now: start)
        #expect(permit(&breaker, after: 60) == .probe)
        #expect(permit(&breaker, after: 60) == .stopped(for: .seconds(20)))
    }

    @Test func failedProbesDoubleTheWaitUpToAQuarterOfAnHour() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        var second = 0
        for wait in [60, 120, 240, 480, 900, 900] {
            _ = breaker.observed(.refused(refusal), now: start + .seconds(second))
            #expect(permit(&breaker, after: second) == .stopped(for: .seconds(wait)))
            second += wait
            #expect(permit(&breaker, after: second) == .probe)
        }
    }

    @Test func acceptedProbeClosesTheBreakerAndReportsItOnce() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.refused(refusal), now: start)
        _ = permit(&breaker, after: 60)
        #expect(breaker.observed(.answered, now: start + .seconds(61)) == .recovered)
        #expect(permit(&breaker, after: 61) == .go)
        #expect(breaker.isIdle)
    }

    @Test func probeWithoutVerdictIsRepeatedAfterItsLimit() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.refused(refusal), now: start)
        #expect(permit(&breaker, after: 60) == .probe)
        #expect(permit(&breaker, after: 80) == .probe)
    }

    @Test func unreachablePeerIsProbedSoonAndDoesNotCountAsARefusal() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        #expect(breaker.observed(.unreachable, now: start) == nil)
        #expect(permit(&breaker, after: 0) == .stopped(for: .seconds(1)))
        #expect(breaker.refusal == nil)
        #expect(breaker.observed(.answered, now: start) == .reachable)
        #expect(permit(&breaker, after: 0) == .go)
        #expect(breaker.observed(.answered, now: start) == nil)
    }

    // I9: if all slices of a campaign returned to find the credential still stopped, other tenants would pay for it.
    @Test func oneSlicePerLaneReturnsToProbeAndTheOthersWait() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.unreachable, now: start)
        #expect(permit(&breaker, after: 0) == .stopped(for: .seconds(1)))
        #expect(permit(&breaker, after: 0) == .stopped(for: .seconds(60)))
        #expect(permit(&breaker, after: 0, lane: .urgent) == .stopped(for: .seconds(1)))
        #expect(permit(&breaker, after: 0, lane: .urgent) == .stopped(for: .seconds(60)))
        #expect(permit(&breaker, after: 1) == .probe)
        // The probing slice may return; if it does not, one other slice may.
        #expect(permit(&breaker, after: 1) == .stopped(for: .seconds(20)))
        _ = breaker.observed(.unreachable, now: start + .seconds(1))
        #expect(permit(&breaker, after: 1) == .stopped(for: .seconds(2)))
        #expect(permit(&breaker, after: 1) == .stopped(for: .seconds(120)))
    }

    @Test func theOthersWaitLongerThanTheProbe() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        for second in 0..<10 {
            _ = breaker.observed(.refused(refusal), now: start + .seconds(second * 2000))
            _ = permit(&breaker, after: second * 2000)
            guard second < 9 else { break }
            #expect(permit(&breaker, after: (second + 1) * 2000) == .probe)
        }
        #expect(permit(&breaker, after: 18_000) == .stopped(for: .seconds(1800)))
    }

    @Test func newlyProvisionedCredentialMayTryAtOnceAndReportsItsRecovery() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.refused(refusal), now: start)
        breaker.forgive()
        #expect(permit(&breaker, after: 0) == .go)
        #expect(breaker.observed(.answered, now: start) == .recovered)
    }

    @Test func signOfABatchIsItsWorstSign() {
        func sign(_ outcomes: Outcome...) -> CredentialSign? {
            CredentialSign(of: outcomes.enumerated().map { PushCompletion(slot: $0.offset, outcome: $0.element) })
        }
        #expect(sign(.yes, .rejected(refusal), .yes) == .refused(refusal))
        #expect(sign(.notSent(.noConnection), .busy()) == .answered)
        #expect(sign(.notSent(.noConnection), .lost) == .unreachable)
        #expect(sign(.lost, .notSent(.refused)) == nil)
    }
}

/// The gate of all credentials.
@Suite struct CredentialGateTests {
    private let now = Timestamp(seconds: 1_764_547_200)
    private let key = CredentialKey(tenant: "acme", credential: "apple")
    private let other = CredentialKey(tenant: "beta", credential: "apple")

    private func enter(
        _ gate: inout CredentialGate,
        _ key: CredentialKey,
        lane: Lane = .bulk,
        isHolder: Bool = false
    ) -> Permit {
        gate.enter(PushRoute(key), lane: lane, isHolder: isHolder, now: now)
    }

    // The limit of pushes in flight is per (tenant, credential).
    @Test func credentialTakesABoundedNumberOfTargets() {
        var policy = EnginePolicy()
        policy.targetsPerCredential = 1000
        var gate = CredentialGate(policy: policy)
        #expect(enter(&gate, key) == .go)
        #expect(enter(&gate, key) == .go)
        #expect(enter(&gate, key) == .full(for: .seconds(1)))
        #expect(enter(&gate, key, isHolder: true) == .go)
        #expect(enter(&gate, key, lane: .urgent) == .go)
        #expect(enter(&gate, other) == .go)
        gate.leave(key, lane: .bulk)
        #expect(enter(&gate, key) == .go)
    }

    @Test func manySmallSlicesUseACredentialTogether() {
        var gate = CredentialGate(policy: EnginePolicy())
        func enter(_ gate: inout CredentialGate, _ targets: Int, isUpstream: Bool = false) -> Permit {
            let route = PushRoute(isUpstream ? other : key, isUpstream: isUpstream)
            return gate.enter(route, lane: .bulk, targets: targets, isHolder: false, now: now)
        }
        for _ in 0..<3999 { #expect(enter(&gate, 1) == .go) }
        // The last one may be larger than what is left.
        #expect(enter(&gate, 500) == .go)
        #expect(enter(&gate, 1) == .full(for: .seconds(1)))
        gate.leave(key, lane: .bulk, targets: 500)
        #expect(enter(&gate, 1) == .go)
        #expect(enter(&gate, 1) == .full(for: .seconds(1)))
        // Through an upstream each is a call.
        for _ in 0..<8 { #expect(enter(&gate, 1, isUpstream: true) == .go) }
        #expect(enter(&gate, 1, isUpstream: true) == .full(for: .seconds(1)))
    }

    // Slices that wait for a place are read and put back again, so only a few wait.
    @Test func whileACredentialIsFullFewFurtherSlicesStart() {
        var policy = EnginePolicy()
        policy.targetsPerCredential = 10
        var gate = CredentialGate(policy: policy)
        func room(_ gate: CredentialGate, after seconds: Int = 0, _ tenant: TenantID = "acme") -> Int {
            gate.room(for: tenant, in: .bulk, running: 12, now: now + .seconds(seconds))
        }
        for _ in 0..<10 {
            #expect(gate.enter(PushRoute(key), lane: .bulk, targets: 1, isHolder: false, now: now) == .go)
        }
        #expect(room(gate) == .max)
        #expect(
            gate.enter(PushRoute(key), lane: .bulk, targets: 1, isHolder: false, now: now) == .full(for: .seconds(1))
        )
        #expect(room(gate) == 2 && room(gate, after: 1) == 2)
        #expect(room(gate, after: 2) == .max && room(gate, "beta") == .max)
        gate.leave(key, lane: .bulk, targets: 1)
        #expect(room(gate) == 1)
        for _ in 0..<9 { gate.leave(key, lane: .bulk, targets: 1) }
        #expect(room(gate) == .max)
    }

    // A slice that gets no place waits longer as long as no place becomes free: a vendor that hangs is tried less and
    // less often.
    @Test func slicesWithoutAPlaceRetryLessAndLessOften() {
        var policy = EnginePolicy()
        policy.targetsPerCredential = 500
        var gate = CredentialGate(policy: policy)
        func wait(_ gate: inout CredentialGate, after seconds: Int) -> Permit {
            gate.enter(PushRoute(key), lane: .bulk, isHolder: false, now: now + .seconds(seconds))
        }
        #expect(wait(&gate, after: 0) == .go)
        #expect(wait(&gate, after: 5) == .full(for: .seconds(1)))
        #expect(gate.stuckPlaces(of: "acme", now: now + .seconds(6)) == nil)
        #expect(gate.stuckPlaces(of: "acme", now: now + .seconds(7)) == 1)
        #expect(gate.stuckPlaces(of: "beta", now: now + .seconds(7)) == nil)
        #expect(wait(&gate, after: 9) == .full(for: .seconds(4)))
        #expect(wait(&gate, after: 500) == .full(for: .seconds(30)))
        gate.leave(key, lane: .bulk)
        #expect(gate.stuckPlaces(of: "acme", now: now + .seconds(501)) == nil)
        #expect(wait(&gate, after: 501) == .go)
        #expect(wait(&gate, after: 502) == .full(for: .seconds(1)))
    }

    @Test func aRateThatIsSlowHasFewPlaces() {
        var gate = CredentialGate(policy: EnginePolicy())
        #expect(gate.enter(PushRoute(key), lane: .bulk, isHolder: false, capacity: 1, now: now) == .go)
        #expect(
            gate.enter(PushRoute(key), lane: .bulk, isHolder: false, capacity: 1, now: now) == .full(for: .seconds(1))
        )
        #expect(gate.enter(PushRoute(key), lane: .bulk, isHolder: true, capacity: 1, now: now) == .go)
    }

    @Test func refusedCredentialDoesNotAffectOneOfTheSameNameInAnotherTenant() {
        var gate = CredentialGate(policy: EnginePolicy())
        let refusal = Rejection(scope: .credential, reason: "BadCertificate", status: 403)
        #expect(
            gate.observed(PushRoute(key), .refused(refusal), now: now) == [CredentialGate.Change(.stopped(refusal))]
        )
        #expect(enter(&gate, key) == .stopped(for: .seconds(60)))
        #expect(enter(&gate, other) == .go)
        #expect(gate.refused == [key: refusal])
        gate.forgive(key)
        #expect(enter(&gate, key) == .go)
    }
}

/// Topics that the peer refuses, while it accepts their credential.
@Suite struct TopicGateTests {
    private let now = Timestamp(seconds: 1_764_547_200)
    private let key = CredentialKey(tenant: "acme", credential: "apple")
    private let refusal = Rejection(scope: .topic, reason: "TopicDisallowed", status: 400)
    private var shop: PushRoute { PushRoute(key, app: "shop", topic: "com.example.shpo") }
    private var bank: PushRoute { PushRoute(key, app: "bank", topic: "com.example.bank") }
    private var gate = CredentialGate(policy: EnginePolicy())

    private mutating func enter(_ route: PushRoute, after seconds: Int = 0) -> Permit {
        gate.enter(route, lane: .bulk, isHolder: false, now: now + .seconds(seconds))
    }

    private mutating func observe(_ route: PushRoute, _ sign: CredentialSign, after seconds: Int = 0)
        -> [CredentialGate.Change]
    {
        gate.observed(route, sign, now: now + .seconds(seconds))
    }

    private func change(_ change: CredentialBreaker.Change) -> CredentialGate.Change {
        CredentialGate.Change(change, topic: shop.topic)
    }

    @Test mutating func aRefusedTopicStopsItsAppAndNoOther() {
        #expect(observe(shop, .refusedTopic(refusal)) == [change(.stopped(refusal))])
        #expect(enter(shop) == .stopped(for: .seconds(60)))
        #expect(enter(bank) == .go)
        var sandbox = shop
        sandbox.environment = .sandbox
        #expect(enter(sandbox) == .go)
        #expect(gate.refused.isEmpty && gate.refusedTopics == [shop: refusal])
        #expect(gate.isStopped(key))
        #expect(gate.refusal(of: key)?.reason == "TopicDisallowed for com.example.shpo")
    }

    @Test mutating func oneSliceProbesTheTopicAndTheOthersWait() {
        _ = observe(shop, .refusedTopic(refusal))
        #expect(enter(shop, after: 60) == .probe)
        #expect(enter(shop, after: 60) == .stopped(for: .seconds(20)))
        #expect(enter(bank, after: 60) == .go)
        #expect(observe(shop, .refusedTopic(refusal), after: 61).isEmpty)
        #expect(enter(shop, after: 61) == .stopped(for: .seconds(120)))
        #expect(enter(shop, after: 181) == .probe)
        #expect(observe(shop, .answered, after: 182) == [change(.recovered)])
        #expect(enter(shop, after: 182) == .go)
        #expect(gate.refusedTopics.isEmpty && gate.refusal(of: key) == nil && !gate.isStopped(key))
    }

    // Slices of a stopped topic use neither a place of the credential nor its probe.
    @Test mutating func aStoppedTopicDoesNotUseItsCredential() {
        _ = observe(shop, .refusedTopic(refusal))
        let invalid = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        _ = observe(bank, .refused(invalid), after: -30)
        for _ in 0..<20 { _ = enter(shop, after: 30) }
        #expect(enter(bank, after: 30) == .probe)
        #expect(gate.refusal(of: key) == invalid)
        _ = observe(bank, .answered, after: 31)
        #expect(gate.refusal(of: key)?.reason == "TopicDisallowed for com.example.shpo")
    }

    // The refused topic is not asked about any more, so that no probe would end its refusal.
    @Test mutating func aCorrectedTopicEndsTheRefusalOfThePreviousOne() {
        _ = observe(shop, .refusedTopic(refusal))
        let corrected = PushRoute(key, app: "shop", topic: "com.example.shop")
        #expect(enter(corrected, after: 5) == .go)
        #expect(observe(bank, .answered, after: 5).isEmpty)
        #expect(observe(corrected, .answered, after: 5) == [change(.recovered)])
        #expect(gate.refusedTopics.isEmpty)
    }

    @Test mutating func aReplacedCredentialMayTryItsTopicsAtOnce() {
        _ = observe(shop, .refusedTopic(refusal))
        gate.forgive(key)
        #expect(enter(shop) == .go)
        #expect(observe(shop, .answered) == [change(.recovered)])
    }

    @Test mutating func aPushTypeWithItsOwnTopicIsJudgedAlone() {
        let call = PushRoute(key, app: "shop", topic: "com.example.shpo", type: .voip)
        _ = observe(call, .refusedTopic(refusal))
        #expect(enter(shop) == .go)
        #expect(enter(PushRoute(key, app: "shop", topic: "com.example.shpo", type: .background)) == .go)
        #expect(enter(call) == .stopped(for: .seconds(60)))
    }

    @Test mutating func stoppedTopicsAreBounded() {
        for number in 0..<CredentialGate.topicLimit + 50 {
            _ = observe(PushRoute(key, app: "shop", topic: "t\(number)"), .refusedTopic(refusal))
        }
        #expect(gate.refusedTopics.count == CredentialGate.topicLimit)
    }

    @Test func aRefusedTopicIsAnAnswerForItsCredential() {
        var breaker = CredentialBreaker(policy: RetryPolicy())
        _ = breaker.observed(.unreachable, now: now)
        #expect(breaker.observed(.refusedTopic(refusal), now: now) == .reachable)
    }

    @Test func aRefusedTopicOutweighsAnswers() {
        let batch = [Outcome.yes, .rejected(refusal), .yes].enumerated().map {
            PushCompletion(slot: $0.offset, outcome: $0.element)
        }
        #expect(CredentialSign(of: batch) == .refusedTopic(refusal))
    }
}

/// The monitor of an app's tokens (docs/contracts/apns.md#13.6).
@Suite struct TokenQualityTests {
    private let app = TokenQuality.Key(tenant: "acme", app: "shop")

    private func doubtful(_ count: Int) -> [TokenVerdict] {
        (0..<count).map { .doubtful(DeviceID(.numbered($0)), DeviceToken(stored: "t\($0)"), reason: "BadDeviceToken") }
    }

    private func among(_ answered: Int, accepted: Int) -> TokenAnswers {
        TokenAnswers(.production, answered: answered, accepted: accepted)
    }

    @Test func aFewDoubtfulTokensAreQuarantined() {
        var quality = TokenQuality()
        #expect(quality.judge(doubtful(40), among: among(200, accepted: 160), of: app).count == 40)
        #expect(quality.stopped.isEmpty)
    }

    @Test func moreThanAFifthStopsTheQuarantine() {
        var quality = TokenQuality()
        #expect(quality.judge(doubtful(41), among: among(200, accepted: 0), of: app).isEmpty)
        #expect(quality.stopped == [app])
    }

    @Test func wrongKeyCostsAtMostAFifthOfTheWindow() {
        var quality = TokenQuality()
        let answers = among(10, accepted: 0)
        let applied = (0..<50).map { _ in quality.judge(doubtful(10), among: answers, of: app).count }.reduce(0, +)
        #expect(applied == 40)
    }

    @Test func acceptedPushesResumeTheQuarantine() {
        var quality = TokenQuality()
        _ = quality.judge(doubtful(100), among: among(100, accepted: 0), of: app)
        _ = quality.judge([], among: among(200, accepted: 200), of: app)
        #expect(quality.judge(doubtful(1), among: among(1, accepted: 0), of: app).count == 1)
        #expect(quality.stopped.isEmpty)
    }

    @Test func unregisteredTokensDoNotIndicateAWrongKey() {
        var quality = TokenQuality()
        let dead = (0..<200).map {
            TokenVerdict.dead(DeviceID(.numbered($0)), DeviceToken(stored: "t\($0)"), since: nil)
        }
        #expect(quality.judge(dead, among: among(200, accepted: 0), of: app).count == 200)
    }

    // Nobody can invent a token that the peer reports as dead, so doubtful ones do not hide it.
    @Test func doubtfulTokensDoNotHideDeadOnes() {
        var quality = TokenQuality()
        let dead = TokenVerdict.dead(DeviceID(.numbered(500)), DeviceToken(stored: "gone"), since: nil)
        #expect(quality.judge(doubtful(100) + [dead], among: among(101, accepted: 0), of: app) == [dead])
    }

    // 1,000 devices and 1,000 invented tokens: without the quarantines that accepted pushes permit, all of these stay for ever.
    @Test func inventedTokensDoNotStopTheQuarantineForEver() {
        var quality = TokenQuality()
        var invented = 1000
        var sends = 0
        while invented > 0 && sends < 20 {
            sends += 1
            // A send in ten batches.
            let tried = max(1, invented / 10)
            for _ in 0..<10 where invented > 0 {
                let answers = among(100 + min(tried, invented), accepted: 100)
                invented -= quality.judge(doubtful(min(tried, invented)), among: answers, of: app).count
            }
        }
        #expect(sends <= 5)
        #expect(quality.judge(doubtful(20), among: among(220, accepted: 200), of: app).count == 20)
        #expect(quality.stopped.isEmpty)
    }

    // Pushes that fail for another reason show nothing about key, topic and environment.
    @Test func onlyAcceptedPushesPermitAQuarantine() {
        var quality = TokenQuality()
        _ = quality.judge(doubtful(100), among: among(100, accepted: 0), of: app)
        #expect(quality.judge(doubtful(60), among: among(100, accepted: 0), of: app).isEmpty)
        #expect(quality.judge(doubtful(60), among: among(100, accepted: 39), of: app).count == 9)
        #expect(quality.stopped == [app])
    }

    // An app without users in the sandbox has no accepted push there: tokens invented for it affect only it.
    @Test func inventedTokensOfOneEnvironmentDoNotStopTheOther() {
        var quality = TokenQuality()
        let sandbox = TokenAnswers(.sandbox, answered: 200)
        #expect(quality.judge(doubtful(200), among: sandbox, of: app).isEmpty)
        #expect(quality.judge(doubtful(5), among: among(50, accepted: 45), of: app).count == 5)
        #expect(quality.stopped == [app])
    }

    @Test func oneAppDoesNotStopAnother() {
        var quality = TokenQuality()
        _ = quality.judge(doubtful(100), among: among(100, accepted: 0), of: app)
        let other = TokenQuality.Key(tenant: "acme", app: "bank")
        #expect(quality.judge(doubtful(5), among: among(50, accepted: 45), of: other).count == 5)
    }
}
