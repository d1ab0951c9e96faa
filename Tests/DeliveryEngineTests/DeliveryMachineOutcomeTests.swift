import DeliveryEngine
import EngineSupport
import Model
import Testing

/// The consequences of an outcome (docs/apns.md#outcomes, docs/contracts/apns.md#9).
@Suite struct DeliveryMachineOutcomeTests {
    @Test func acceptedIsSentWithTransportAndID() throws {
        var bench = MachineBench()
        bench.completeAll(.yes)
        let result = try #require(bench.results[0])
        #expect(result.state == .sent && result.attempt.isCertain)
        #expect(result.attempt.transport == "apns")
        #expect(result.attempt.transportID == bench.sent.first?.id.uuid)
        #expect(result.attempt.count == 1)
        #expect(result.attempt.payloadBytes == 5)
        #expect(result.device == MachineBench.facts(0).device)
        #expect(bench.signs == [.answered])
    }

    @Test func refusedContentFailsWithThePeersReason() {
        var bench = MachineBench()
        bench.completeAll(.rejected(.content, "PayloadTooLarge", 413))
        #expect(bench.results[0]?.state == .failed)
        #expect(bench.results[0]?.reason == "PayloadTooLarge")
        #expect(bench.verdicts.isEmpty)
        #expect(bench.signs == [.answered])
    }

    // docs/contracts/apns.md#9.1: the store compares the time with the registration.
    @Test func unregisteredTokenFailsAndIsReportedWithThePeersTime() throws {
        let since = Timestamp(seconds: 1_700_000_000)
        var bench = MachineBench()
        bench.completeAll(.rejected(.tokenDead(since: since), "Unregistered", 410))
        #expect(bench.results[0]?.reason == "Unregistered")
        let facts = MachineBench.facts(0)
        let device = try #require(facts.device)
        let token = try #require(facts.destination.token)
        #expect(bench.verdicts == [.dead(device, token, reason: "Unregistered", since: since)])
    }

    @Test func doubtfulTokenFailsAndIsQuarantined() throws {
        var bench = MachineBench()
        bench.completeAll(.rejected(.tokenDoubtful, "BadDeviceToken"))
        #expect(bench.results[0]?.state == .failed)
        let facts = MachineBench.facts(0)
        let device = try #require(facts.device)
        let token = try #require(facts.destination.token)
        #expect(bench.verdicts == [.doubtful(device, token, reason: "BadDeviceToken")])
    }

    // Quarantined only if the other environment does not know the token either (docs/apns.md#outcomes).
    @Test(arguments: [true, false])
    func aTokenOfTheOtherEnvironmentIsTriedThereOnce(isKnown: Bool) throws {
        var bench = MachineBench { $0.routes[.ios]?.credentials[.sandbox] = "test" }
        bench.completeAll(.rejected(.tokenDoubtful, "BadDeviceToken"))
        #expect(bench.verdicts.isEmpty && bench.results.isEmpty)
        #expect(bench.sent.map(\.environment) == [.production, .sandbox])
        #expect(Set(bench.sent.map(\.id)).count == 1)
        bench.completeAll(isKnown ? .yes : .rejected(.credential, "BadEnvironmentKeyInToken", 403))
        let facts = MachineBench.facts(0)
        let device = try #require(facts.device)
        let token = try #require(facts.destination.token)
        #expect(bench.results[0]?.state == (isKnown ? .sent : .failed))
        #expect(bench.results[0]?.reason == (isKnown ? nil : "BadDeviceToken"))
        #expect(
            bench.verdicts == [
                isKnown ? .moved(device, token, to: .sandbox) : .doubtful(device, token, reason: "BadDeviceToken")
            ]
        )
        // A key that is valid for one environment only gives no information about itself in the other.
        #expect(!bench.signs.contains { if case .refused = $0 { true } else { false } })
        #expect(bench.disposition == .finished)
    }

    // A push that was accepted in the other environment does not show that the app's own environment is right.
    @Test func anAcceptedTryInTheOtherEnvironmentIsNotCountedAsAccepted() {
        var bench = MachineBench { $0.routes[.ios]?.credentials[.sandbox] = "test" }
        bench.completeAll(.rejected(.tokenDoubtful, "BadDeviceToken"))
        bench.completeAll(.yes)
        #expect(bench.answers == [TokenAnswers(.production, answered: 1), TokenAnswers(.production, answered: 1)])
    }

    @Test func acceptedPushesAreCountedForTheirEnvironment() {
        var bench = MachineBench(targets: 3)
        bench.completeAll(.yes)
        #expect(bench.answers == [TokenAnswers(.production, answered: 3, accepted: 3)])
    }

    @Test func aStoppedCredentialOfTheOtherEnvironmentIsNotWaitedFor() {
        var bench = MachineBench { $0.routes[.ios]?.credentials[.sandbox] = "test" }
        bench.permit = .stopped(for: .seconds(60))
        bench.completeAll(.rejected(.tokenDoubtful, "BadDeviceToken"))
        #expect(bench.results[0]?.state == .failed)
        #expect(bench.verdicts.isEmpty)
        #expect(bench.disposition == .finished)
    }

    @Test func refusedCredentialIsReportedAndItsTargetsWaitForTheGate() {
        var bench = MachineBench(targets: 3)
        bench.permit = .stopped(for: .seconds(60))
        let refusal = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        bench.completeAll(.rejected(refusal))
        #expect(bench.signs == [.refused(refusal)])
        #expect(bench.results.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(60), heldBy: "apple"))
        #expect(bench.records.last?.countsAttempt == false)
    }

    @Test func refusedTopicIsReportedAndItsTargetsWaitForTheGate() {
        var bench = MachineBench(targets: 3)
        bench.permit = .stopped(for: .seconds(60))
        let refusal = Rejection(scope: .topic, reason: "TopicDisallowed", status: 400)
        bench.completeAll(.rejected(refusal))
        #expect(bench.signs == [.refusedTopic(refusal)])
        #expect(bench.results.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(60), heldBy: "apple"))
        #expect(bench.records.last?.countsAttempt == false)
    }

    // The sender's choice selected a topic that the app does not have: the app's own topic and the token are fine.
    @Test(arguments: [
        (Rejection.Scope.topic, "TopicDisallowed"), (.topic, "BadTopic"), (.tokenDoubtful, "DeviceTokenNotForTopic"),
    ])
    func aPushTypeThatTheSenderChoseIsItsOwnMistake(scope: Rejection.Scope, reason: String) {
        var bench = MachineBench { $0.notification.content.apns = ["pushType": "voip"] }
        #expect(bench.sent.map(\.payload.type) == [.voip])
        bench.completeAll(.rejected(scope, reason))
        #expect(bench.results[0]?.state == .failed && bench.results[0]?.reason == reason)
        #expect(bench.signs == [.answered] && bench.verdicts.isEmpty)
        #expect(bench.disposition == .finished)
    }

    @Test(arguments: [
        (Rejection.Scope.credential, "InvalidProviderToken"), (.tokenDoubtful, "BadDeviceToken"),
        (.tokenDead(since: nil), "Unregistered"),
    ])
    func aChosenPushTypeHidesNoOtherMistake(scope: Rejection.Scope, reason: String) {
        var bench = MachineBench { $0.notification.content.apns = ["pushType": "voip"] }
        bench.permit = .stopped(for: .seconds(60))
        bench.completeAll(.rejected(scope, reason))
        #expect(bench.signs != [.answered] || !bench.verdicts.isEmpty)
    }

    @Test func thePushTypeOfAnAppsOwnTopicIsNoExcuse() {
        for change: (inout SliceWork) -> Void in [
            { $0.notification.content.apns = ["pushType": "alert"] },
            // The vendor chose it.
            { $0.notification.content.data["voip"] = true },
        ] {
            var bench = MachineBench(targets: 1, change)
            bench.permit = .stopped(for: .seconds(60))
            bench.completeAll(.rejected(.topic, "TopicDisallowed"))
            #expect(bench.results.isEmpty && bench.signs.count == 1 && bench.signs != [.answered])
        }
    }

    @Test func stoppedCredentialHoldsItsOwnTargetsOnly() {
        var bench = MachineBench(targets: 2, permit: .stopped(for: .seconds(60)))
        #expect(bench.sent.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(60), heldBy: "apple"))
        bench.recorded()
        #expect(bench.isFinished)
    }

    // The cost is one refused push instead of 500 (docs/contracts/apns.md#13.6).
    @Test func probeSendsOnePushAndTheRestAfterItsAnswer() {
        var bench = MachineBench(targets: 5, permit: .probe)
        #expect(bench.batches == [1])
        bench.permit = .go
        bench.complete([0], .yes)
        #expect(bench.batches == [1, 4])
    }

    // Encoded payloads wait for capacity, because encoding them again would repeat the database's work.
    @Test func fullCredentialIsRetriedForAWhileBeforeTheSliceIsReturned() {
        var bench = MachineBench(targets: 2, permit: .full(for: .seconds(1)))
        bench.pass(.milliseconds(900))
        #expect(bench.asks == 2 && bench.records.isEmpty)
        bench.pass(.milliseconds(100))
        #expect(bench.disposition == .again(after: .seconds(1)))
        #expect(bench.records.last?.countsAttempt == false)
    }

    // If no push completes, capacity will not be free soon: neither for this slice nor for the other slices of the
    // message.
    @Test func credentialThatHangsReturnsTheMessageAtOnce() {
        var bench = MachineBench(targets: 2, permit: .full(for: .seconds(4)))
        #expect(bench.asks == 1)
        #expect(bench.disposition == .crowded(for: .seconds(4)))
        #expect(bench.records.last?.countsAttempt == false)
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func freeCapacityOfTheCredentialIsUsed() {
        var bench = MachineBench(targets: 2, permit: .full(for: .seconds(1)))
        bench.permit = .go
        bench.pass(.milliseconds(125))
        #expect(bench.batches == [2])
    }

    @Test func anExhaustedRateIsRetriedForAWhileThenTheSliceIsReturned() {
        var bench = MachineBench(targets: 5, permit: .metered(2))
        #expect(bench.batches == [2])
        bench.permit = .metered(0)
        bench.pass(.milliseconds(125))
        #expect(bench.batches == [2] && bench.records.isEmpty)
        bench.permit = .metered(1)
        bench.pass(.milliseconds(125))
        #expect(bench.batches == [2, 1])
        bench.permit = .metered(0)
        bench.completeAll(.yes)
        bench.pass(.seconds(5))
        bench.recorded()
        bench.pass(.milliseconds(125))
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
    }

    @Test func failedProbeHoldsTheRest() {
        var bench = MachineBench(targets: 5, permit: .probe)
        bench.permit = .stopped(for: .seconds(120))
        bench.complete([0], .rejected(.credential, "InvalidProviderToken", 403))
        #expect(bench.batches == [1])
        #expect(bench.disposition == .again(after: .seconds(120), heldBy: "apple"))
    }

    // docs/contracts/apns.md#9.2: at least 15 minutes after a 5xx, then longer.
    @Test(arguments: [(Int16(0), 15), (1, 30), (2, 60), (5, 60)])
    func serverErrorsWaitByTheQueuePolicy(attempts: Int16, minutes: Int) {
        var bench = MachineBench(lease: MachineBench.lease(1, attempts: attempts))
        bench.completeAll(.busy())
        #expect(bench.disposition == .again(after: .seconds(minutes * 60)))
        #expect(bench.records.last?.countsAttempt == true)
    }

    @Test func retryScaleShortensThePolicyForTests() {
        var policy = EnginePolicy()
        policy.retryScale = 0.001
        var bench = MachineBench(policy: policy)
        bench.completeAll(.busy())
        #expect(bench.disposition == .again(after: .milliseconds(900)))
    }

    @Test func tooManyRequestsWaitsShorter() {
        var bench = MachineBench()
        bench.completeAll(.busy(429))
        #expect(bench.disposition == .again(after: .seconds(30)))
    }

    @Test func delayRequestedByThePeerIsKept() {
        var bench = MachineBench()
        bench.completeAll(.busy(503, after: .seconds(77)))
        #expect(bench.disposition == .again(after: .seconds(77)))
    }

    @Test func delayOfAYearIsLimited() {
        var bench = MachineBench { $0.notification.expiresAt = nil }
        bench.completeAll(.busy(503, after: .seconds(365 * 86_400)))
        #expect(bench.disposition == .again(after: .seconds(86_400)))
    }

    // No outcome is written: a requeue may still deliver the target, and otherwise its expiry gives it an outcome.
    @Test func sliceGivesUpAfterTheLastAttempt() {
        var bench = MachineBench(lease: MachineBench.lease(2, attempts: 31))
        bench.complete([0], .yes)
        bench.complete([1], .busy())
        #expect(bench.results[1] == nil)
        #expect(bench.disposition == .dead(reason: "ServiceUnavailable"))
    }

    @Test func sliceWhoseLeasesLapsedTooOftenGivesUpUnread() {
        let bench = MachineBench(lease: MachineBench.lease(1, lapses: 16))
        #expect(bench.sent.isEmpty && bench.results.isEmpty)
        #expect(bench.disposition == .dead(reason: "leasesLapsed"))
    }

    @Test func invalidAttemptCountDoesNotTrap() {
        var bench = MachineBench(lease: MachineBench.lease(1, attempts: .max))
        bench.completeAll(.yes)
        #expect(bench.results[0]?.attempt.count == .max)
    }

    @Test func unprocessedPushIsSentAgainAtOnceWithTheSameID() {
        var bench = MachineBench()
        bench.completeAll(.notSent(.refused))
        #expect(bench.sent.count == 2)
        #expect(Set(bench.sent.map(\.id)).count == 1)
        bench.completeAll(.yes)
        #expect(bench.results[0]?.state == .sent)
        #expect(bench.results[0]?.attempt.count == 2)
    }

    @Test func peerThatRefusesEveryStreamIsNotRetriedInATightLoop() {
        var bench = MachineBench()
        for _ in 0..<4 { bench.completeAll(.notSent(.refused)) }
        #expect(bench.sent.count == 4)
        #expect(bench.disposition == .again(after: .seconds(2)))
        #expect(bench.records.last?.countsAttempt == false)
    }

    @Test func unreachablePeerStopsTheCredentialForAWhile() {
        var bench = MachineBench(targets: 2)
        bench.permit = .stopped(for: .seconds(1))
        bench.completeAll(.notSent(.noConnection))
        #expect(bench.signs == [.unreachable])
        #expect(bench.disposition == .again(after: .seconds(1), heldBy: "apple"))
    }

    @Test func unknownCredentialWaitsForProvisioning() {
        var bench = MachineBench()
        bench.completeAll(.notSent(.noCredential))
        #expect(bench.sent.count == 1)
        #expect(bench.disposition == .again(after: .seconds(5), heldBy: "apple"))
    }

    // retryUnknown (docs/contracts/apns.md#13.4): only a collapse id hides a repeat.
    @Test(arguments: [
        (RetryUnknown.never, nil, 1), (.never, "c", 1), (.withCollapse, nil, 1), (.withCollapse, "c", 2),
        (.always, nil, 2),
    ])
    func lostAnswerFollowsThePolicy(unknown: RetryUnknown, collapse: String?, sends: Int) {
        var policy = EnginePolicy()
        policy.retry.unknown = unknown
        var bench = MachineBench(policy: policy) { $0.notification.collapseID = collapse }
        bench.completeAll(.lost)
        #expect(bench.sent.count == sends)
        #expect(Set(bench.sent.map(\.id)).count == 1)
        if sends == 1 {
            #expect(bench.results[0]?.state == .sent)
            #expect(bench.results[0]?.attempt.isCertain == false)
        }
    }

    @Test func repeatedlyLostAnswersEndAsSentWithoutConfirmation() {
        var policy = EnginePolicy()
        policy.retry.unknown = .always
        var bench = MachineBench(lease: MachineBench.lease(1, attempts: 31), policy: policy)
        bench.completeAll(.lost)
        #expect(bench.results[0]?.state == .sent)
        #expect(bench.results[0]?.attempt.isCertain == false)
    }

    @Test func transportThatLosesAPushDoesNotBlockTheSlice() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.perform(bench.machine.sendEnded(1, now: bench.now))
        #expect(bench.results[1]?.attempt.isCertain == false)
        #expect(bench.disposition == .finished)
    }

    // I2: the end of a send does not settle pushes that left again in a later send.
    @Test func endOfASendDoesNotSettleResentPushes() {
        var bench = MachineBench(targets: 2)
        bench.complete([0], .yes)
        bench.complete([1], .notSent(.timedOut))
        #expect(bench.batches == [2, 1])
        bench.perform(bench.machine.sendEnded(1, now: bench.now))
        #expect(bench.onTheirWay.map(\.slot) == [1])
        #expect(bench.results[1] == nil)
        bench.complete([1], .yes)
        bench.recorded()
        #expect(bench.results[1]?.attempt.isCertain == true)
        #expect(bench.disposition == .finished)
    }

    @Test func repeatedAndForeignCompletionsAreIgnored() {
        var bench = MachineBench(targets: 2)
        bench.complete([0, 0, 7, -1], .yes)
        bench.complete([0], .rejected(.content, "BadTopic"))
        bench.complete([1], .yes)
        #expect(bench.records.flatMap(\.results).map(\.index).sorted() == [0, 1])
        #expect(bench.results[0]?.state == .sent)
    }
}
