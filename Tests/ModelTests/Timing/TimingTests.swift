import Model
import Testing

/// Local time around clock changes and in zones that are not whole hours from UTC. Times from the IANA database,
/// 2026.
@Suite struct LocalTimeTests {
    private func moment(_ text: String, _ zone: String) throws -> String {
        let local = try #require(LocalTime(text))
        let name = try #require(TimeZoneName(zone))
        return LocalTime(local.moment(in: name), in: .utc).description
    }

    @Test(arguments: [
        // Ordinary days.
        ("2026-12-01T09:00:00", "Europe/Berlin", "2026-12-01T08:00:00"),
        ("2026-07-01T09:00", "America/New_York", "2026-07-01T13:00:00"),
        ("2026-12-01T09:00:00", "Asia/Kathmandu", "2026-12-01T03:15:00"),
        ("2026-12-01T09:00:00", "Asia/Kolkata", "2026-12-01T03:30:00"),
        ("2026-12-01T09:00:00", "Pacific/Kiritimati", "2026-11-30T19:00:00"),
        ("2026-12-01T09:00:00", "Etc/GMT+12", "2026-12-01T21:00:00"),
        // Skipped in spring: later by the length of the gap.
        ("2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T01:30:00"),
        ("2026-03-08T02:30:00", "America/New_York", "2026-03-08T07:30:00"),
        ("2026-10-04T02:15:00", "Australia/Lord_Howe", "2026-10-03T15:45:00"),
        // Occurs twice in autumn: the second time is used.
        ("2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T01:30:00"),
        ("2026-11-01T01:30:00", "America/New_York", "2026-11-01T06:30:00"),
        ("2026-04-05T01:45:00", "Australia/Lord_Howe", "2026-04-04T15:15:00"),
        // Around the change.
        ("2026-03-29T01:59:59", "Europe/Berlin", "2026-03-29T00:59:59"),
        ("2026-03-29T03:00:00", "Europe/Berlin", "2026-03-29T01:00:00"),
        ("2026-10-25T03:00:00", "Europe/Berlin", "2026-10-25T02:00:00"),
        ("2026-10-25T01:59:00", "Europe/Berlin", "2026-10-24T23:59:00"),
    ])
    func aLocalTimeIsConvertedToItsInstant(local: String, zone: String, utc: String) throws {
        #expect(try moment(local, zone) == utc)
    }

    @Test func everyDayOfFourCenturiesIsReadAsItIsWritten() {
        for day in stride(from: Int64(0), to: 400 * 366, by: 13) {
            let time = LocalTime(seconds: day * 86_400 + day % 86_400)
            #expect(LocalTime(time.description) == time)
        }
    }

    @Test(arguments: [
        "", "2026-12-01", "2026-12-01 09:00:00", "2026-12-01T09:00:00Z", "2026-12-01T24:00:00", "2026-12-01T09:60:00",
        "2026-02-29T09:00:00", "2026-13-01T09:00:00", "2026-00-10T09:00:00", "1969-12-31T23:59:59",
        "2026-12-01T09:00:0",
        "+026-12-01T09:00:00", "2026-12-01T-9:00:00", "２026-12-01T09:00", "2026-12-01T09:00:60",
    ])
    func invalidLocalTimesAreRefused(_ text: String) { #expect(LocalTime(text) == nil) }

    @Test(arguments: [
        "", "CET", "GMT+9", "Europe/Nowhere", "Europe/Berlin'; --", "Europe/ Berlin", "/", "+09:00", "../etc/passwd",
        String(repeating: "a/", count: 40),
    ])
    func invalidTimeZonesAreRefused(_ text: String) { #expect(TimeZoneName(text) == nil) }

    @Test(arguments: ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT-14", "Asia/Calcutta"])
    func zonesOfTheDatabaseAreAccepted(_ text: String) { #expect(TimeZoneName(text)?.text == text) }

    @Test func anUnknownZoneOfTheStoreFallsBackToTheApps() throws {
        let timing = AppTiming(timeZone: TimeZoneName("Asia/Seoul"))
        #expect(timing.zone(of: DeviceClock(timeZone: TimeZoneName(stored: "Mars/Base"))).text == "Asia/Seoul")
        #expect(timing.zone(of: .unset).text == "Asia/Seoul")
        #expect(AppTiming().zone(of: .unset) == .utc)
    }
}

/// Delivery windows: HHMM to HHMM, including the last minute (docs/contracts/ipns.md#2.6).
@Suite struct DailyWindowTests {
    private let berlin = TimeZoneName(stored: "Europe/Berlin")

    private func at(_ text: String, _ zone: TimeZoneName) throws -> Timestamp {
        try #require(LocalTime(text)).moment(in: zone)
    }

    @Test(arguments: [
        ("0900-2100", "08:59:59", false), ("0900-2100", "09:00:00", true), ("0900-2100", "21:00:59", true),
        ("0900-2100", "21:01:00", false), ("2200-0700", "23:59:00", true), ("2200-0700", "00:00:00", true),
        ("2200-0700", "07:00:30", true), ("2200-0700", "07:01:00", false), ("2200-0700", "21:59:59", false),
        ("0000-2359", "12:00:00", true), ("1000-0959", "09:59:59", true), ("1000-1000", "10:00:59", true),
        ("1000-1000", "10:01:00", false),
    ])
    func theLocalTimeDecides(window: String, time: String, isOpen: Bool) throws {
        let window = try #require(DailyWindow(window))
        #expect(window.contains(try at("2026-06-10T\(time)", berlin), in: berlin) == isOpen)
    }

    @Test(arguments: [
        // Later today, tomorrow, and at once.
        ("0900-2100", "2026-06-10T08:00:00", "2026-06-10T09:00:00"),
        ("0900-2100", "2026-06-10T21:01:00", "2026-06-11T09:00:00"),
        ("0900-2100", "2026-06-10T12:34:56", "2026-06-10T12:34:56"),
        ("2200-0700", "2026-06-10T12:00:00", "2026-06-10T22:00:00"),
        // A skipped beginning moves by the length of the gap. Over a short night the next beginning is still eight
        // hours away.
        ("0230-0900", "2026-03-29T01:00:00", "2026-03-29T03:30:00"),
        ("0700-2159", "2026-03-28T23:00:00", "2026-03-29T07:00:00"),
        ("0700-2159", "2026-10-24T23:00:00", "2026-10-25T07:00:00"),
    ])
    func itOpensNext(window: String, from: String, at opening: String) throws {
        let window = try #require(DailyWindow(window))
        let seen = window.opening(from: try at(from, berlin), in: berlin)
        #expect(LocalTime(seen, in: berlin).description == opening)
    }

    @Test(arguments: [
        "", "0900", "0900-", "900-2100", "0900-2460", "0900-2400", "09000-2100", "0900-2100-0", "09.00-2100",
        "-0900-2100",
    ])
    func invalidWindowsAreRefused(_ text: String) { #expect(DailyWindow(text) == nil) }

    @Test func windowsAreWrittenAsRead() {
        #expect(DailyWindow(from: "09:05", to: "2359")?.description == "0905-2359")
        #expect(DailyWindow("0000-2359")?.isWholeDay == true && DailyWindow("1000-0959")?.isWholeDay == true)
    }
}

/// Schedule, quiet hours and window together.
@Suite struct TimingRulesTests {
    private let now = Timestamp(seconds: 1_780_272_000)  // 2026-06-01T00:00:00Z
    private let berlin = DeviceClock(timeZone: TimeZoneName(stored: "Europe/Berlin"))

    private func rules(
        _ app: AppTiming = .none,
        lane: Lane = .bulk,
        local: String? = nil,
        life: Duration = .seconds(86_400)
    ) -> TimingRules {
        let local = local.flatMap { LocalTime($0) }
        let due = max(now, local?.earliest ?? now)
        return TimingRules(app: app, lane: lane, dueAt: due, localDue: local, expiresAt: (local?.latest ?? due) + life)
    }

    private func quiet(
        _ from: Int = 22 * 60,
        _ to: Int = 7 * 60,
        hold: AppTiming.Hold = .delay
    ) -> AppTiming {
        AppTiming(quietHours: AppTiming.QuietHours(from: from, to: to, hold: hold))
    }

    @Test func withoutAnyHoursNothingIsChecked() {
        #expect(!rules().concerns(nil))
        #expect(!rules(quiet(), lane: .transactional).concerns(nil))
        #expect(!rules(lane: .urgent).concerns(DailyWindow("0900-1000")))
        #expect(rules().concerns(DailyWindow("0900-1000")))
        #expect(rules().verdict(berlin, now: now) == .open)
    }

    @Test func quietHoursOfTheDeviceHoldUntilTheyEnd() {
        // Midnight in UTC is 02:00 in Berlin, five hours before the end.
        #expect(rules(quiet()).verdict(berlin, now: now) == .wait(until: now + .seconds(5 * 3600), .quietHours))
        #expect(rules(quiet(hold: .suppress)).verdict(berlin, now: now) == .suppress(.quietHours))
        #expect(rules(quiet(), lane: .urgent).verdict(berlin, now: now) == .open)
    }

    @Test func aWindowThatOpensAfterTheExpirySuppresses() {
        let short = rules(quiet(), life: .seconds(3600))
        #expect(short.verdict(berlin, now: now) == .suppress(.opensTooLate))
        // Its slice is due with the message, so that the outcome is written then.
        #expect(short.slot(berlin, now: now) == now)
    }

    @Test func hoursThatNeverOverlapSuppress() {
        var device = berlin
        device.window = DailyWindow("2300-0559")
        #expect(rules(quiet()).verdict(device, now: now) == .suppress(.opensTooLate))
        #expect(rules(quiet()).slot(device, now: now) == now)
    }

    @Test func quietHoursAndWindowOpenWithTheLaterOne() {
        var device = berlin
        device.window = DailyWindow("1000-1800")
        #expect(rules(quiet()).slot(device, now: now) == now + .seconds(8 * 3600))
        device.window = DailyWindow("0000-0800")
        #expect(rules(quiet()).slot(device, now: now) == now + .seconds(5 * 3600))
    }

    @Test func aLocalTimeHasItsOwnExpiryInEachZone() {
        let rules = rules(local: "2026-06-02T09:00:00", life: .seconds(3600))
        let due = LocalTime("2026-06-02T07:00:00").map { $0.moment(in: .utc) }
        #expect(due.map { rules.verdict(berlin, now: now) == .wait(until: $0, .localTime) } == true)
        #expect(due.map { rules.verdict(berlin, now: $0) } == .open)
        #expect(due.map { rules.verdict(berlin, now: $0 + .seconds(3600)) } == .expired)
        #expect(rules.verdict(.unset, now: rules.dueAt + .seconds(14 * 3600)) == .open)
    }

    @Test func aLocalTimeThatPassedInAZoneIsDueThereAtOnce() {
        let rules = rules(local: "2026-06-01T01:00:00")
        #expect(rules.dueAt == now)
        #expect(rules.slot(berlin, now: now) == now && rules.verdict(berlin, now: now) == .open)
        #expect(rules.slot(.unset, now: now) == now + .seconds(3600))
    }

    @Test func slotsAreSharedByTheQuarterHour() {
        let times: [Int64] = [0, 60, 899, 900, 5000, 905]
        let groups = TimingRules.grouped(times) { Timestamp(seconds: 1_780_272_000 + $0) }
        #expect(groups.map(\.items) == [[0, 60, 899], [900, 905], [5000]])
        #expect(groups.map { $0.due.seconds - 1_780_272_000 } == [0, 900, 5000])
    }
}
