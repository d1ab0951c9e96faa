import DeliveryEngine
import EngineSupport
import FoundationEssentials
import Model
import Testing

/// The targets that are pushed, and those that get an outcome without a push
/// (docs/architecture.md#path-of-a-message).
@Suite struct DeliveryMachineTargetTests {
    @Test func usableTokenIsPushedWithTheTopicExpiryAndItsOwnID() throws {
        let bench = MachineBench(targets: 2)
        let push = try #require(bench.sent.first)
        #expect(bench.sent.map(\.slot) == [0, 1])
        #expect(push.topic == "com.example.shop")
        #expect(push.expiresAt == MachineBench.start + .seconds(86_400))
        #expect(Set(bench.sent.map(\.id)).count == 2)
        #expect(push.payload.bytes == Array("hello".utf8))
    }

    /// The expiration of the payload is that of the push, and zero means one attempt; neither ends the message.
    @Test(arguments: [(0, true), (60, true), (-1, false)])
    func aPayloadMayHaveItsOwnExpiration(_ offset: Int, _ isSent: Bool) {
        let end = offset == 0 ? 0 : Int(MachineBench.start.seconds) + offset
        let bench = MachineBench { $0.notification.content.data["end"] = .int(end) }
        #expect(bench.sent.map(\.expiresAt) == (isSent ? [Timestamp(seconds: Int64(end))] : []))
        #expect(bench.results[0]?.state == (isSent ? nil : .expired))
    }

    // I2: every attempt has the same apns-id, on any node.
    @Test func anotherLeaseOnTheSameTargetUsesTheSameID() {
        let first = MachineBench(targets: 3)
        let second = MachineBench(targets: 3, lease: MachineBench.lease(3, epoch: 9, done: [0]))
        #expect(second.sent.map(\.id) == Array(first.sent.map(\.id).dropFirst()))
    }

    @Test func doneTargetsAreNotTouched() {
        var bench = MachineBench(targets: 3, lease: MachineBench.lease(3, done: [0, 2]))
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [1])
        #expect(Set(bench.results.keys) == [1])
        #expect(bench.disposition == .finished)
    }

    @Test(arguments: [
        TokenState.none, .invalid, .quarantined,
    ])
    func inactiveTokenCountsAsNoDevice(state: TokenState) {
        let bench = MachineBench { $0.targets[0]?.destination.tokenState = state }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.state == .suppressed)
        #expect(bench.results[0]?.reason == "noDevice")
        #expect(bench.disposition == .finished)
    }

    @Test(arguments: [IdentityState.replaced, .unregistered, .removed])
    func inactiveIdentityCountsAsNoDevice(state: IdentityState) {
        let bench = MachineBench { $0.targets[0]?.identityState = state }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.reason == "noDevice")
    }

    /// An erasure finds outcomes by their identities, so that an outcome without one must not name anybody.
    @Test func erasedIdentityCountsAsNoDeviceWithoutTheCallersAddress() {
        var lease = MachineBench.lease(2)
        lease.addresses = [.phone("01012345678"), .phone("01087654321")]
        let bench = MachineBench(targets: 2, lease: lease) { work in
            work.targets[0] = nil
            work.targets[1]?.identityState = .unregistered
        }
        #expect(bench.results[0]?.reason == "noDevice")
        #expect(bench.results[0]?.identity == nil && bench.results[0]?.address == nil)
        #expect(bench.results[1]?.identity != nil)
        #expect(bench.results[1]?.address == .phone("01087654321"))
        #expect(bench.records.first?.app == "shop")
    }

    @Test func switchedOffPushesAreAPreference() {
        let bench = MachineBench { $0.targets[0]?.acceptsPush = false }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.reason == "preference")
    }

    // The consent rule of a message against the user's consent: declined, never set, opted in.
    @Test(arguments: [
        (ConsentRule.optedIn, [false, false, true]), (.subscribed, [false, true, true]), (.all, [true, true, true]),
    ])
    func consentDecidesWhichTargetsArePushed(_ rule: ConsentRule, _ pushed: [Bool]) {
        var bench = MachineBench(targets: 3) { work in
            work.notification.content.consent = rule
            work.targets[0]?.acceptsPush = false
            work.targets[0]?.isOptedIn = true
            work.targets[2]?.isOptedIn = true
        }
        bench.completeAll(.yes)
        #expect((0..<3).map { slot in bench.sent.contains { $0.slot == slot } } == pushed)
        for slot in pushed.indices where !pushed[slot] { #expect(bench.results[slot]?.reason == "preference") }
    }

    // A device receives one push per message.
    @Test func targetsWithTheSameTokenArePushedOnce() {
        var bench = MachineBench(targets: 3) { work in
            work.targets[2]?.destination.token = MachineBench.facts(0).destination.token
        }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0, 1])
        #expect(bench.results[2]?.reason == "duplicate")
    }

    @Test func deviceReachedByAnotherSliceBecomesADuplicate() {
        var bench = MachineBench(targets: 2) { $0.duplicates = [1] }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0])
        #expect(bench.results[1]?.reason == "duplicate")
    }

    // After a crash between the two, the second target would otherwise be pushed later.
    @Test func duplicateIsWrittenNoLaterThanThePushItRepeats() throws {
        var bench = MachineBench(targets: 3) {
            $0.targets[2]?.destination.token = MachineBench.facts(0).destination.token
        }
        bench.complete([0], .yes)
        bench.pass(.milliseconds(250))
        let first = try #require(bench.records.first)
        #expect(Set(first.results.map(\.index)) == [0, 2])
    }

    @Test func canceledMessageEndsEveryTargetAsCanceled() {
        let bench = MachineBench(targets: 2) { $0.state = .canceled }
        #expect(bench.sent.isEmpty)
        #expect(bench.results.values.allSatisfy { $0.state == .canceled })
        #expect(bench.disposition == .finished)
    }

    @Test func pastExpiryEndsAsExpired() {
        let bench = MachineBench(targets: 2) { $0.notification.expiresAt = MachineBench.start }
        #expect(bench.sent.isEmpty)
        #expect(bench.results.values.allSatisfy { $0.state == .expired })
    }

    /// Its push may have left under the lease that lapsed: a receipt of it counts.
    @Test(arguments: [MessageState.canceled, .expired])
    func aTargetThatEndsAfterALapseHadAnAttempt(_ state: MessageState) {
        var lapsed = MachineBench.lease(1, epoch: 2)
        lapsed.followsLapse = true
        let fresh = MachineBench { $0.state = state }
        let bench = MachineBench(lease: lapsed) { $0.state = state }
        #expect(fresh.results[0]?.attempt.count == 0 && bench.results[0]?.attempt.count == 1)
        let gone = MachineBench(lease: lapsed) { $0.targets[0]?.identityState = .unregistered }
        #expect(gone.results[0]?.attempt.count == 0, "it may have a push at another name of the device")
    }

    @Test func messageWithoutExpiryDoesNotLiveForEver() {
        let bench = MachineBench { work in
            work.notification.expiresAt = nil
            work.notification.sentAt = MachineBench.start + .seconds(-29 * 86_400)
        }
        #expect(bench.results[0]?.state == .expired)
    }

    @Test func pausedMessageWaitsWithoutUsingUpAnAttempt() {
        let bench = MachineBench(targets: 2) { $0.state = .paused }
        #expect(bench.sent.isEmpty && bench.results.isEmpty)
        // The store keeps it back until it is resumed.
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
    }

    /// The lease that lapsed may have pushed. Without the attempt, a receipt would be an orphan if the message is canceled later.
    @Test func aLeaseAfterALapseUsesUpAnAttempt() {
        var lapsed = MachineBench.lease(2, epoch: 2)
        lapsed.followsLapse = true
        let paused = MachineBench(lease: lapsed) { $0.state = .paused }
        #expect(paused.disposition == .again(after: .zero) && paused.records.last?.countsAttempt == true)
        let waiting = MachineBench(lease: lapsed) { $0.routes = [:] }
        #expect(waiting.disposition == .again(after: .seconds(60)) && waiting.records.last?.countsAttempt == true)
        #expect(waiting.records.last?.returnsRouting == false)
        var worn = MachineBench.lease(1, lapses: 16)
        worn.followsLapse = true
        let dead = MachineBench(lease: worn)
        #expect(dead.disposition == .dead(reason: "leasesLapsed") && dead.records.last?.countsAttempt == true)
    }

    // Credential reasons leave deliveries queued until expiry (docs/apns.md#outcomes).
    @Test func missingCredentialWaitsInsteadOfFailing() {
        let bench = MachineBench { $0.routes = [:] }
        #expect(bench.results.isEmpty)
        #expect(bench.disposition == .again(after: .seconds(60)))
        #expect(bench.records.last?.countsAttempt == false)
    }

    @Test func waitNeverGoesBeyondTheExpiry() {
        let bench = MachineBench { work in
            work.routes = [:]
            work.notification.expiresAt = MachineBench.start + .seconds(7)
        }
        #expect(bench.disposition == .again(after: .seconds(7)))
    }

    @Test func platformWithoutTransportFails() {
        let bench = MachineBench { $0.targets[0]?.destination.platform = .android }
        #expect(bench.results[0]?.state == .failed)
        #expect(bench.results[0]?.reason == "noTransport")
    }

    @Test(arguments: [(String(repeating: "x", count: 65), "payloadTooLarge"), ("", "payloadInvalid")])
    func contentThatCannotBeEncodedFailsWithTheReason(body: String, reason: String) {
        let bench = MachineBench { $0.notification.content.body = body }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.state == .failed)
        #expect(bench.results[0]?.reason == reason)
    }

    // A sender's template may exclude a user, which is not a failure.
    @Test func targetExcludedByTheContentIsSuppressed() {
        let bench = MachineBench { $0.notification.content.body = "nobody" }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.state == .suppressed)
        #expect(bench.results[0]?.reason == "withheld")
    }

    @Test func dialectWithoutAnAdapterFails() {
        let bench = MachineBench { $0.targets[0]?.vendor = .braze }
        #expect(bench.results[0]?.reason == "noAdapter")
    }

    // The other SDK on the device can still display it.
    @Test func payloadThatCannotBeEncodedDoesNotMakeTheNextTargetADuplicate() {
        let bench = MachineBench(targets: 2) { work in
            work.targets[1]?.destination.token = MachineBench.facts(0).destination.token
            work.targets[0]?.vendor = .braze
        }
        #expect(bench.sent.map(\.slot) == [1])
    }

    @Test func deletedMessageEndsTheSliceWithoutOutcomes() {
        var bench = MachineBench(MachineBench.lease(2))
        bench.load(nil)
        #expect(bench.disposition == .finished)
        #expect(bench.results.isEmpty)
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func eachCredentialGetsItsOwnSend() {
        let bench = MachineBench(targets: 4) { work in
            work.targets[1]?.destination.environment = .sandbox
            work.targets[3]?.destination.environment = .sandbox
            work.routes[.ios]?.credentials[.sandbox] = "apple-sandbox"
        }
        #expect(bench.batches == [2, 2])
        #expect(bench.sent.map(\.slot) == [0, 2, 1, 3])
    }
}
