import DeliveryEngine
import EngineSupport
import Model
import Testing

/// Messages whose text came before through another entry point (docs/routing.md#cross-vendor-duplicates).
@Suite struct DeliveryMachineDuplicateTests {
    private static let wait = EnginePolicy().retry.duplicate

    @Test func aDeviceThatWasSentTheEarlierMessageGetsNone() {
        var bench = MachineBench(targets: 3) { $0.earlier = EarlierMessages(sent: [1]) }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0, 2])
        #expect(bench.results[1]?.state == .suppressed && bench.results[1]?.reason == "crossVendorDuplicate")
        #expect(bench.results[1]?.attempt.transport == nil && bench.disposition == .finished)
    }

    // The control: without the facts about earlier messages all are pushed.
    @Test func aMessageWithoutEarlierOnesIsPushed() {
        var bench = MachineBench(targets: 3) { $0.isDuplicate = true }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0, 1, 2])
    }

    @Test func aTargetWaitsWhileTheEarlierMessageMayStillBeSent() {
        var bench = MachineBench(targets: 2) { $0.earlier = EarlierMessages(open: [1]) }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0] && bench.results[1] == nil)
        #expect(bench.disposition == .again(after: Self.wait))
        // It uses up no attempt.
        #expect(bench.records.last?.countsAttempt == false)
    }

    @Test(arguments: [(59, 0), (60, 1)])
    func theWaitEndsAfterAMinute(_ seconds: Int, _ pushes: Int) {
        let bench = MachineBench { $0.earlier = EarlierMessages(open: [0], waited: .seconds(seconds)) }
        #expect(bench.sent.count == pushes)
    }

    // It was sent to the device by another one of the earlier messages.
    @Test func aSentMessageCountsMoreThanAnOpenOne() {
        let bench = MachineBench { $0.earlier = EarlierMessages(sent: [0], open: [0], waited: .seconds(120)) }
        #expect(bench.sent.isEmpty && bench.results[0]?.reason == "crossVendorDuplicate")
    }

    // A missing push is worse than a second one.
    @Test(arguments: [(9, 1), (11, 0)])
    func aMessageThatWouldExpireMeanwhileIsPushed(_ seconds: Int, _ pushes: Int) {
        let bench = MachineBench { work in
            work.notification.expiresAt = MachineBench.start + .seconds(seconds)
            work.earlier = EarlierMessages(open: [0])
        }
        #expect(bench.sent.count == pushes)
    }

    // Other reasons come first: nobody waits for a push that will not be sent.
    @Test func aTargetThatIsNotPushedDoesNotWait() {
        let bench = MachineBench { work in
            work.targets[0]?.acceptsPush = false
            work.earlier = EarlierMessages(open: [0])
        }
        #expect(bench.results[0]?.reason == "preference" && bench.disposition == .finished)
    }
}
