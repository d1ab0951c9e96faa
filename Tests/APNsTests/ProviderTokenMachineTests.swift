import APNs
import Model
import Testing

/// The age rules of docs/contracts/apns.md#3: at least 20 minutes between tokens, renewal at 50 minutes, one lookup
/// at a time.
struct ProviderTokenMachineTests {
    private let start = ContinuousClock.now
    private let first = token(1)
    private let second = token(2)

    private static func token(_ number: Int64) -> ProviderToken {
        ProviderToken(teamID: "T", keyID: "K", issuedAt: Timestamp(seconds: number), text: "token-\(number)")
    }

    /// A machine that received `first` with the given age at `start`.
    private func holding(age: Duration = .zero) -> ProviderTokenMachine {
        var machine = ProviderTokenMachine()
        #expect(machine.requested(at: start) == .obtain)
        machine.obtained(AgedProviderToken(first, age: age), at: start)
        return machine
    }

    @Test func tokenIsReusedUntilFiftyMinutesOfAge() {
        var machine = holding()
        let last = start + .minutes(50) - .seconds(1)
        let age = Duration.minutes(50) - .seconds(1)
        #expect(machine.requested(at: last) == .use(AgedProviderToken(first, age: age)))
        #expect(machine.requested(at: start + .minutes(50)) == .obtain)
    }

    @Test func ageCountsFromIssueNotFromReceipt() {
        // Another node signed it 45 minutes ago.
        var machine = holding(age: .minutes(45))
        #expect(machine.requested(at: start + .minutes(4)) == .use(AgedProviderToken(first, age: .minutes(49))))
        #expect(machine.requested(at: start + .minutes(5)) == .obtain)
    }

    @Test func concurrentCallersJoinOneRequest() {
        var machine = ProviderTokenMachine()
        #expect(machine.requested(at: start) == .obtain)
        #expect(machine.requested(at: start) == .join)
        #expect(machine.requested(replacing: first, at: start) == .join)
        machine.obtained(AgedProviderToken(first, age: .zero), at: start)
        #expect(machine.requested(at: start) == .use(AgedProviderToken(first, age: .zero)))
    }

    @Test func staleTokenIsNeverReplacedWithinTwentyMinutes() {
        var machine = holding()
        let early = start + .minutes(20) - .seconds(1)
        #expect(machine.requested(replacing: first, at: early) == .refuse(retryAfter: .seconds(1)))
        #expect(machine.requested(replacing: first, at: start + .minutes(20)) == .obtain)
    }

    @Test func lateReportAboutAnOlderTokenGetsTheCurrentOne() {
        var machine = holding()
        #expect(machine.requested(at: start + .minutes(50)) == .obtain)
        machine.obtained(AgedProviderToken(second, age: .zero), at: start + .minutes(50))
        let answer = machine.requested(replacing: first, at: start + .minutes(51))
        #expect(answer == .use(AgedProviderToken(second, age: .minutes(1))))
    }

    @Test func clockThatGoesBackwardsDoesNotMakeATokenYounger() {
        var machine = holding(age: .minutes(30))
        // The monotonic clock cannot go back; if it did, the token's age stays what it was.
        #expect(machine.requested(at: start - .minutes(25)) == .use(AgedProviderToken(first, age: .minutes(30))))
        #expect(machine.requested(at: start + .minutes(20)) == .obtain)
    }

    @Test func sourceWhoseClockWentBackwardsGivesAgeZero() {
        // A negative age: `iat` is in the future of the node that measures it. The token must not be kept for longer
        // than 50 minutes.
        var machine = holding(age: .minutes(-120))
        #expect(machine.requested(at: start + .minutes(49)) == .use(AgedProviderToken(first, age: .minutes(49))))
        #expect(machine.requested(at: start + .minutes(50)) == .obtain)
    }

    @Test func afterAFailedRenewalTheOldTokenIsUsedUntilItExpires() {
        var machine = holding()
        #expect(machine.requested(at: start + .minutes(50)) == .obtain)
        #expect(machine.failed(at: start + .minutes(50)) == AgedProviderToken(first, age: .minutes(50)))
        #expect(machine.requested(at: start + .minutes(59)) == .obtain)
        #expect(machine.failed(at: start + .minutes(59)) == nil)
    }

    @Test func failedFirstLookupLeavesNothingAndMayBeRepeated() {
        var machine = ProviderTokenMachine()
        #expect(machine.requested(at: start) == .obtain)
        #expect(machine.failed(at: start) == nil)
        #expect(machine.requested(at: start) == .obtain)
    }
}
