import DeliveryEngine
import EngineSupport
import Model
import TestKit
import Testing

/// A wait belongs to a target, not to its slice (`DeliveryMachine+Waits.swift`).
@Suite struct DeliveryMachineWaitTests {
    private func peer(_ indexes: [Int], _ wait: Duration) -> RetrySlice {
        RetrySlice(indexes: indexes, disposition: .again(after: wait), countsAttempt: true)
    }

    // A rate grants 100 of 500 pushes; one of them is deferred for a quarter of an hour.
    @Test func aDeferredTargetLeavesTheOthersOfAMeteredSliceDueAtOnce() {
        var bench = MachineBench(targets: 500, permit: .metered(100))
        bench.permit = .metered(0)
        bench.complete([7], .busy())
        bench.completeAll(.yes)
        bench.pass(.seconds(1))
        bench.recorded()
        bench.pass(.seconds(5))
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
        #expect(bench.retries == [peer([7], .seconds(15 * 60))])
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func oneDeferredTargetAmongFiveHundredDelaysNoOther() {
        var bench = MachineBench(targets: 500)
        bench.permit = .metered(0)
        bench.complete([42], .busy(503, after: .seconds(15 * 60)))
        bench.completeAll(.notSent(.refused))
        bench.pass(.seconds(6))
        #expect(bench.results.isEmpty)
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
        #expect(bench.retries == [peer([42], .seconds(15 * 60))])
    }

    @Test func aWaitOfADayMovesNoOtherTargetBehindTheExpiry() {
        var bench = MachineBench(targets: 3) { $0.notification.expiresAt = MachineBench.start + .seconds(3600) }
        bench.permit = .metered(0)
        bench.complete([0], .busy(503, after: .seconds(86_400)))
        bench.completeAll(.notSent(.refused))
        bench.pass(.zero)
        bench.pass(.seconds(5))
        #expect(bench.disposition == .again(after: .zero))
        // It expires unsent, because its peer asked for more time than the message has.
        #expect(bench.retries == [peer([0], .seconds(3595))])
    }

    @Test func attemptsOfTheOthersDoNotRise() {
        var bench = MachineBench(lease: MachineBench.lease(3, attempts: 4))
        bench.complete([0], .busy(429))
        bench.complete([1, 2], .notSent(.noCredential))
        #expect(bench.disposition == .again(after: .seconds(5), heldBy: "apple"))
        #expect(bench.records.last?.countsAttempt == false)
        #expect(bench.retries.map(\.countsAttempt) == [true])
    }

    // I10: another node continues at once, and the deferred target keeps its wait.
    @Test func drainReturnsTheReadyTargetsAtOnceAndTheDeferredOneLater() {
        var bench = MachineBench(targets: 4, permit: .metered(2))
        bench.permit = .metered(0)
        bench.complete([0], .busy())
        bench.perform(bench.machine.drainRequested(now: bench.now))
        bench.complete([1], .yes)
        #expect(bench.disposition == .again(after: .zero))
        #expect(bench.records.last?.countsAttempt == false)
        #expect(bench.retries == [peer([0], .seconds(15 * 60))])
    }

    @Test func drainKeepsTheHoursOfTargets() {
        var bench = MachineBench(targets: 3, permit: .metered(1)) { work in
            work.timing = AppTiming(quietHours: AppTiming.QuietHours(from: 22 * 60, to: 7 * 60))
            work.targets[2]?.clock = DeviceClock(timeZone: TimeZoneName(stored: "Europe/Berlin"))
            for index in 0..<2 {
                work.targets[index]?.clock = DeviceClock(timeZone: TimeZoneName(stored: "Asia/Seoul"))
            }
        }
        bench.permit = .metered(0)
        bench.complete([0], .yes)
        bench.perform(bench.machine.drainRequested(now: bench.now))
        #expect(bench.disposition == .again(after: .zero))
        #expect(
            bench.retries == [
                RetrySlice(
                    indexes: [2],
                    disposition: .again(after: .seconds(6 * 3600)),
                    countsAttempt: false,
                    movesDue: true
                )
            ]
        )
        // Those that stay were due before.
        #expect(bench.records.last?.movesDue == false)
    }

    // Latencies count from the end of the hours, not from the time at which the slice was returned.
    @Test func targetsOutsideTheirHoursAreDueWhenTheHoursEnd() {
        let bench = MachineBench(targets: 2) { work in
            work.timing = AppTiming(quietHours: AppTiming.QuietHours(from: 22 * 60, to: 7 * 60))
            for index in 0..<2 {
                work.targets[index]?.clock = DeviceClock(timeZone: TimeZoneName(stored: "Europe/Berlin"))
            }
        }
        #expect(bench.disposition == .again(after: .seconds(6 * 3600)) && bench.retries.isEmpty)
        #expect(bench.records.last?.movesDue == true && bench.records.last?.countsAttempt == false)
    }

    @Test func everyDelayThatAPeerRequestedIsKept() {
        var bench = MachineBench(targets: 5)
        bench.complete([0], .busy(503, after: .seconds(20)))
        bench.complete([1], .busy(503, after: .seconds(90)))
        bench.complete([2], .busy(503, after: .seconds(24)))
        bench.complete([3], .busy(503, after: .seconds(26)))
        bench.complete([4], .notSent(.noCredential))
        // Delays that differ by a quarter at most share a slice, and none ends before it was requested to.
        #expect(bench.disposition == .again(after: .seconds(24)))
        #expect(bench.records.last?.countsAttempt == true)
        #expect(
            bench.retries == [
                RetrySlice(
                    indexes: [4],
                    disposition: .again(after: .seconds(5), heldBy: "apple"),
                    countsAttempt: false
                ),
                peer([3], .seconds(26)), peer([1], .seconds(90)),
            ]
        )
    }

    // A peer cannot make more slices than its range of delays allows.
    @Test func slicesByDelayAreBounded() {
        var bench = MachineBench(targets: 500)
        for slot in 0..<500 { bench.complete([slot], .busy(503, after: .seconds((slot + 1) * (slot + 1) % 90_000))) }
        #expect(bench.retries.count < 60)
        #expect(bench.retries.flatMap(\.indexes).count + staying(bench).count == 500)
    }

    private func staying(_ bench: MachineBench) -> Set<Int> {
        Set(0..<500).subtracting(bench.retries.flatMap(\.indexes))
    }

    @Test func aTargetThatGaveUpDoesNotStopOneThatMayBeTriedAgain() {
        var bench = MachineBench(lease: MachineBench.lease(3, attempts: 31))
        bench.complete([0, 2], .busy(503, after: .seconds(20)))
        bench.complete([1], .notSent(.noCredential))
        #expect(bench.disposition == .again(after: .seconds(5), heldBy: "apple"))
        #expect(
            bench.retries == [
                RetrySlice(indexes: [0, 2], disposition: .dead(reason: "ServiceUnavailable"), countsAttempt: true)
            ]
        )
    }

    @Test func credentialsAreWaitedForSeparately() {
        var bench = MachineBench(targets: 3, permit: .stopped(for: .seconds(60))) { work in
            work.targets[1]?.destination.environment = .sandbox
            work.routes[.ios]?.credentials[.sandbox] = "test"
        }
        #expect(bench.disposition == .again(after: .seconds(60), heldBy: "apple"))
        #expect(
            bench.retries == [
                RetrySlice(
                    indexes: [1],
                    disposition: .again(after: .seconds(60), heldBy: "test"),
                    countsAttempt: false
                )
            ]
        )
        #expect(bench.records.last?.holders == ["apple", "test"])
        bench.recorded()
        #expect(bench.isFinished)
    }

    @Test func aDeviceWithoutACredentialDelaysNoOther() {
        var bench = MachineBench(targets: 4, permit: .metered(1)) { work in
            work.targets[3]?.destination.environment = .sandbox
        }
        bench.permit = .metered(0)
        bench.complete([0], .yes)
        bench.perform(bench.machine.drainRequested(now: bench.now))
        #expect(bench.disposition == .again(after: .zero))
        bench = MachineBench(targets: 4) { $0.targets[3]?.destination.environment = .sandbox }
        bench.permit = .metered(0)
        bench.completeAll(.notSent(.refused))
        bench.pass(.zero)
        bench.pass(.seconds(5))
        #expect(bench.disposition == .again(after: .zero))
        #expect(
            bench.retries == [
                RetrySlice(indexes: [3], disposition: .again(after: .seconds(60)), countsAttempt: false)
            ]
        )
    }

    // The flush may have been written: what it moved is not moved twice, because the store knows targets, not places.
    @Test func aRepeatedFlushMovesTheSameTargets() {
        var bench = MachineBench(targets: 3)
        bench.complete([0], .busy())
        bench.complete([1, 2], .notSent(.noCredential))
        let first = bench.retries
        #expect(bench.records.last?.lease.isDone(0) == false)
        bench.perform(bench.machine.recordFailed(now: bench.now))
        bench.pass(.milliseconds(100))
        #expect(bench.records.count == 2)
        #expect(bench.retries == first)
        #expect(bench.records.last?.lease.isDone(0) == false)
    }
}
