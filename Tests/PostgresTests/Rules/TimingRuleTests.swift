import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The rules of time zones, windows, quiet hours and caps.
@Suite struct TimingRuleTests {
    @Test func aRegistrationsZoneAndWindowStayUntilTheyAreChanged() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        _ = try await world.registerTimed(key, "Asia/Seoul", "0900-2100")
        #expect(try await world.clock(key) == DeviceClock("Asia/Seoul", "0900-2100"), "the first")
        _ = try await world.register(key)
        #expect(try await world.clock(key) == DeviceClock("Asia/Seoul", "0900-2100"), "nothing set")
        _ = try await world.registerTimed(key, "Europe/Berlin", nil)
        #expect(try await world.clock(key) == DeviceClock("Europe/Berlin", "0900-2100"), "another zone")
        _ = try await world.registerTimed(key, nil, "1000-0959")
        #expect(try await world.clock(key) == DeviceClock("Europe/Berlin", nil), "the whole day")
    }

    @Test func targetsOfALocalScheduleAreDueAtTheirLocalTime() async throws {
        let world = try await RuleWorld.make()
        let (local, start) = (world.tomorrow, world.now())
        for zone in ["Asia/Seoul", "Europe/Berlin", "Asia/Kathmandu", nil, "Asia/Seoul"] {
            _ = try await world.registerTimed(world.newKey(), zone, nil)
        }
        try await world.setTiming(AppTiming(timeZone: TimeZoneName("America/New_York")))
        var message = world.message(to: [], work: .expand(after: nil))
        message.times.localDue = local
        message.times.expiresAt = local.latest + .seconds(3600)
        let slices = try await world.expanded(message)
        #expect(slices.reduce(0) { $0 + $1.targets.count } == 0, "targets that are due now")
        var counts: [Int] = []
        // From time zone to time zone, from east to west.
        var past: Duration = .zero
        for zone in ["Asia/Seoul", "Asia/Kathmandu", "Europe/Berlin", "America/New_York"] {
            let due = local.moment(in: TimeZoneName(stored: zone)) - start
            try await world.pass(due - past - .seconds(1200))
            past = due - .seconds(1200)
            counts.append(try await world.claim(message.id, by: "n1").reduce(0) { $0 + $1.targets.count })
            try await world.pass(.seconds(2400))
            past = past + .seconds(2400)
            let leases = try await world.claim(message.id, by: "n1")
            counts.append(leases.reduce(0) { $0 + $1.targets.count })
            for lease in leases {
                _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
            }
        }
        #expect(counts == [0, 2, 0, 1, 0, 1, 0, 1], "targets before and after each zone's time: \(counts)")
    }

    @Test func aMessageForLaterIsNotLeasedAndIsDueAtItsTime() async throws {
        let world = try await RuleWorld.make()
        guard let one = try await world.register(world.newKey(), token: world.newToken()),
            let two = try await world.register(world.newKey(), token: world.newToken())
        else { return fail("no devices") }
        var message = world.message(
            to: [one.identity],
            claim: NewMessage.Claim(node: "n1", lease: RuleWorld.lease)
        )
        let later = world.now() + .seconds(7200)
        message.targets.slices.append(
            NewSlice(
                number: 1,
                work: .deliver,
                targets: [TargetID(two.identity)],
                addresses: [nil],
                dueAt: later
            )
        )
        _ = try await world.accept(message)
        let held = world.handover(message)
        let sent = try await world.deliveries.record(world.progress(held, .sent, .finished), by: "n1")
        #expect(sent == .recorded(1), "the leased slice")
        #expect(try await world.claim(message.id, by: "n2").count == 0, "claims before it is due")
        try await world.pass(.seconds(3600))
        #expect(try await world.claim(message.id, by: "n2").count == 0, "claims when a lease would have ended")
        try await world.pass(.seconds(3660))
        let leases = try await world.claim(message.id, by: "n2")
        #expect(leases.map(\.targets) == [[TargetID(two.identity)]], "what comes due")
        #expect(leases.map(\.epoch) == [1], "its first claim")
    }

    @Test func delayingHoursMoveSlicesAndSuppressingHoursDoNot() async throws {
        let world = try await RuleWorld.make()
        _ = try await world.registerTimed(world.newKey(), "UTC", world.closedWindow)
        _ = try await world.registerTimed(world.newKey(), "UTC", "0000-2359")
        _ = try await world.registerTimed(world.newKey(), nil, nil)
        for (rule, due) in [
            (AppTiming.WindowRule(), 2), (AppTiming.WindowRule(hold: .suppress), 3),
            (AppTiming.WindowRule(lanes: [.urgent]), 3),
        ] {
            try await world.setTiming(AppTiming(windows: rule))
            var message = world.message(to: [], work: .expand(after: nil))
            message.times.expiresAt = world.now() + .seconds(3 * 86_400)
            let slices = try await world.expanded(message)
            #expect(slices.reduce(0) { $0 + $1.targets.count } == due, "due at once under \(rule)")
        }
        let minute = LocalTime(world.now(), in: .utc).minute
        let quiet = AppTiming.QuietHours(from: (minute + 1430) % 1440, to: (minute + 60) % 1440)
        try await world.setTiming(AppTiming(quietHours: quiet))
        var message = world.message(to: [], work: .expand(after: nil))
        message.times.expiresAt = world.now() + .seconds(3 * 86_400)
        #expect(try await world.expanded(message).count == 0, "slices in quiet hours")
    }

    @Test func aTargetThatExpiresBeforeItsWindowIsDueAtOnce() async throws {
        let world = try await RuleWorld.make()
        let window = world.closedWindow
        _ = try await world.registerTimed(world.newKey(), "UTC", window)
        let message = world.message(to: [], work: .expand(after: nil))
        let slices = try await world.expanded(message)
        #expect(slices.reduce(0) { $0 + $1.targets.count } == 1, "targets due at once")
        guard let lease = slices.first else { return }
        let work = try await world.deliveries.load(lease)
        #expect(work?.targets[0]?.clock.window?.description == window, "the window when it is sent")
    }

    @Test func aDeviceAtItsCapIsReportedAsCapped() async throws {
        let world = try await RuleWorld.make()
        try await world.setTiming(AppTiming(cap: AppTiming.FrequencyCap(count: 2, period: .seconds(86_400))))
        let device = try await world.register(world.newKey(), token: world.newToken())
        let other = try await world.register(world.newKey(), token: world.newToken())
        guard let device, let other else { return fail("no devices") }
        var capped: [Set<Int>?] = []
        for state in [DeliveryState.sent, .failed, .sent, .sent] {
            let message = world.message(to: [other.identity, device.identity])
            _ = try await world.accept(message)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
            capped.append(try await world.deliveries.load(lease)?.capped)
            var progress = world.progress(lease, state, .finished)
            progress.results = progress.results.filter { $0.index == 1 }
            progress.results[0].device = device.device
            _ = try await world.deliveries.record(progress, by: "n1")
        }
        // Only sent messages count.
        #expect(capped == [[], [], [], [1]], "capped, message by message")
        var message = world.message(to: [device.identity])
        message.lane = .transactional
        _ = try await world.accept(message)
        let leases = try await world.deliveries.claim(
            tenant: world.tenant,
            lane: .transactional,
            limit: 1,
            by: "n1",
            lease: RuleWorld.lease
        )
        guard let lease = leases.first else { return fail("no lease") }
        #expect(try await world.deliveries.load(lease)?.capped == [], "capped in the transactional lane")
    }
}

extension DeviceClock {
    fileprivate init(_ zone: String?, _ window: String?) {
        self.init(timeZone: zone.flatMap { TimeZoneName($0) }, window: window.flatMap { DailyWindow($0) })
    }
}

extension RuleWorld {
    fileprivate func registerTimed(
        _ key: VendorDeviceKey,
        _ zone: String?,
        _ window: String?
    ) async throws -> Registered {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: .production,
            token: newToken(),
            clock: DeviceClock(zone, window)
        )
        return try await run(
            RegisterDevice(
                scope,
                key: key,
                registration,
                identity: IdentityID(rawValue: identifiers.uuid(at: now())),
                device: DeviceID(rawValue: identifiers.uuid(at: now())),
                at: now()
            )
        )
    }

    fileprivate func clock(_ key: VendorDeviceKey) async throws -> DeviceClock? {
        try await resolve(.deviceKey(key))?.clock
    }

    /// Nine o'clock of the day after tomorrow, which is in the future in every time zone.
    fileprivate var tomorrow: LocalTime {
        LocalTime(seconds: (now().seconds / 86_400 + 2) * 86_400 + 9 * 3600)
    }

    /// A window that is neither open now nor soon, in UTC.
    fileprivate var closedWindow: String {
        let hour = (LocalTime(now(), in: .utc).minute / 60 + 5) % 24
        return "\(DailyWindow.text(hour * 60))-\(DailyWindow.text(hour * 60 + 59))"
    }

    /// Accepts a message, expands it to the end, and returns the slices that are due then.
    fileprivate func expanded(_ message: NewMessage) async throws -> [SliceLease] {
        _ = try await accept(message)
        guard let lease = try await claim(message.id, by: "n1").first else { return [] }
        for _ in 0..<20 {
            guard case .page = try await deliveries.expand(lease, by: "n1", pageSize: 10) else { break }
        }
        return try await claim(message.id, by: "n1")
    }
}
