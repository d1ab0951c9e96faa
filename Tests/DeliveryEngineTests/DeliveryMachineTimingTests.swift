import DeliveryEngine
import EngineSupport
import Model
import TestKit
import Testing

/// Windows and quiet hours are checked at each sending: a slice may be late, and a user's settings may have changed
/// since its due time was set.
@Suite struct DeliveryMachineTimingTests {
    /// 2025-12-01T00:00:00Z: 09:00 in Seoul, 01:00 in Berlin.
    private let seoul = DeviceClock(timeZone: TimeZoneName(stored: "Asia/Seoul"))
    private let berlin = DeviceClock(timeZone: TimeZoneName(stored: "Europe/Berlin"))
    private let quiet = AppTiming(quietHours: AppTiming.QuietHours(from: 22 * 60, to: 7 * 60))

    @Test func targetsOutsideTheirHoursWaitAndTheOthersAreSent() {
        var bench = MachineBench(targets: 2) { work in
            work.timing = quiet
            work.targets[0]?.clock = seoul
            work.targets[1]?.clock = berlin
        }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0])
        #expect(bench.results.keys.sorted() == [0])
        #expect(bench.disposition == .again(after: .seconds(6 * 3600)))
        #expect(bench.records.last?.countsAttempt == false)
    }

    // A slice has one due time: that of the device that may receive pushes first.
    @Test func theEarliestWindowSetsTheDueTimeOfTheSlice() {
        let bench = MachineBench(targets: 2) { work in
            work.timing = quiet
            work.targets[0]?.clock = berlin
            work.targets[1]?.clock = DeviceClock(timeZone: TimeZoneName(stored: "Europe/Helsinki"))
        }
        #expect(bench.disposition == .again(after: .seconds(5 * 3600)))
    }

    @Test func jitterDoesNotExtendQuietHours() {
        let settings = DeliveryMachine.Settings(
            policy: EnginePolicy(),
            payloads: PayloadWriter(adapters: [:]),
            identifiers: TestIdentifiers(),
            transports: [.ios: "apns"],
            jitter: 0.9
        )
        let lease = MachineBench.lease(1)
        var machine = DeliveryMachine(lease, settings: settings)
        _ = machine.started()
        var work = MachineBench.work(lease)
        work.timing = quiet
        let actions = machine.loaded(work, now: MachineBench.start)
        guard case .record(let progress)? = actions.last else {
            Issue.record("no flush")
            return
        }
        #expect(progress.disposition == .again(after: .seconds(7 * 3600)))
    }

    @Test func anAppWithoutDelaysSuppresses() {
        let bench = MachineBench { work in
            work.timing = quiet
            work.timing.quietHours?.hold = .suppress
        }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.state == .suppressed && bench.results[0]?.reason == "quietHours")
        #expect(bench.disposition == .finished)
    }

    @Test func theReceivingWindowOfTheDeviceIsItsOwn() {
        var bench = MachineBench(targets: 2) { work in
            work.timing.windows.hold = .suppress
            work.targets[0]?.clock = seoul
            work.targets[0]?.clock.window = DailyWindow("0900-0959")
            work.targets[1]?.clock = seoul
            work.targets[1]?.clock.window = DailyWindow("1000-2000")
        }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0])
        #expect(bench.results[1]?.reason == "receivingWindow")
    }

    @Test func aWindowAfterTheExpirySuppressesWithItsReason() {
        let bench = MachineBench { work in
            work.timing = quiet
            work.notification.expiresAt = MachineBench.start + .seconds(3600)
        }
        #expect(bench.results[0]?.reason == "opensTooLate")
    }

    @Test(arguments: [Lane.urgent, .transactional])
    func urgentMessagesIgnoreQuietHours(lane: Lane) {
        let bench = MachineBench { work in
            work.timing = quiet
            work.lane = lane
        }
        #expect(bench.sent.count == 1)
    }

    @Test func aClockThatIsALittleBehindDoesNotPutBack() {
        let bench = MachineBench { work in
            work.timing = AppTiming(quietHours: AppTiming.QuietHours(from: 22 * 60, to: 7 * 60))
            work.localDue = LocalTime("2025-12-01T09:00:00")
            work.targets[0]?.clock = DeviceClock(timeZone: TimeZoneName(stored: "Asia/Seoul"))
            work.notification.sentAt = MachineBench.start + .milliseconds(900)
        }
        #expect(bench.sent.count == 1)
    }

    // After a device has moved west, its local time is that of its current zone.
    @Test func aLocalTimeIsThatOfTheDevicesCurrentZone() {
        let bench = MachineBench(targets: 2) { work in
            work.localDue = LocalTime("2025-12-01T09:00:00")
            work.notification.sentAt = MachineBench.start + .seconds(-5 * 3600)
            work.notification.expiresAt = work.localDue.map { $0.latest + .seconds(7200) }
            work.targets[0]?.clock = seoul
            work.targets[1]?.clock = berlin
        }
        #expect(bench.sent.map(\.slot) == [0])
        // Each zone has the message for the same two hours.
        #expect(bench.sent.first?.expiresAt == MachineBench.start + .seconds(7200))
    }

    @Test func aPastLocalTimeExpires() {
        let bench = MachineBench { work in
            work.localDue = LocalTime("2025-12-01T06:00:00")
            work.notification.sentAt = MachineBench.start + .seconds(-8 * 3600)
            work.notification.expiresAt = work.localDue.map { $0.latest + .seconds(3600) }
            work.targets[0]?.clock = seoul
        }
        #expect(bench.sent.isEmpty)
        #expect(bench.results[0]?.state == .expired)
    }

    @Test func aDeviceAtItsCapIsSuppressed() {
        var bench = MachineBench(targets: 2) { $0.capped = [1] }
        bench.completeAll(.yes)
        #expect(bench.sent.map(\.slot) == [0])
        #expect(bench.results[1]?.state == .suppressed && bench.results[1]?.reason == "frequencyCap")
    }
}
