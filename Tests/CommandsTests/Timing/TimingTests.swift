import Commands
import DatabaseSupport
import Model
import Store
import TestKit
import Testing

/// A list of targets is accepted in slices by the time at which their devices may receive pushes.
@Suite struct TimingTests {
    private func device(_ world: CommandWorld, _ key: VendorDeviceKey, _ digit: String, _ clock: DeviceClock) async {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: DeviceToken(stored: String(repeating: digit, count: 64)),
            clock: clock
        )
        _ = await world.registration(.register(registration))
    }

    private func zone(_ name: String) -> DeviceClock { DeviceClock(timeZone: TimeZoneName(name)) }

    private func submission(_ keys: [VendorDeviceKey], local: LocalTime? = nil, at: Timestamp? = nil) -> Submission {
        Submission(
            content: Content(body: "b"),
            audience: .listed(keys.map { Addressee(.deviceKey($0)) }),
            timing: SubmissionTiming(dueAt: at, localDue: local, timeToLive: .seconds(7200))
        )
    }

    @Test func aListIsGroupedByItsDevicesZones() async throws {
        let world = try await CommandWorld.make()
        await device(world, "seoul", "a", zone("Asia/Seoul"))
        await device(world, "berlin", "b", zone("Europe/Berlin"))
        await device(world, "none", "c", .unset)
        await device(world, "tokyo", "d", zone("Asia/Tokyo"))
        let now = world.clock.now()
        let local = LocalTime(seconds: now.seconds / 86_400 * 86_400 + 4 * 86_400 + 9 * 3600)
        let result = await world.submit(submission(["none", "berlin", "seoul", "tokyo"], local: local))
        let message = try #require(try await world.message(result))
        #expect(result.handover.isEmpty && !message.isClaimed)
        #expect(message.localDue == local && message.dueAt == local.earliest)
        #expect(message.expiresAt == local.latest + .seconds(7200))
        #expect(message.slices.map(\.number) == [0, 1, 2])
        #expect(message.slices.map(\.targets.count) == [2, 1, 1])
        #expect(
            message.slices.map(\.addresses) == [
                [.deviceKey("seoul"), .deviceKey("tokyo")], [.deviceKey("berlin")], [.deviceKey("none")],
            ]
        )
        #expect(message.slices.last?.dueAt == local.moment(in: .utc))
    }

    // Slices that are due now are leased by the accepting node; the others wait to be claimed.
    @Test func onlyDueSlicesAreLeased() async throws {
        let world = try await CommandWorld.make()
        let minute = LocalTime(world.clock.now(), in: .utc).minute
        let closed = DailyWindow(from: (minute + 60) % 1440, to: (minute + 120) % 1440)
        await device(world, "open", "a", .unset)
        await device(world, "closed", "b", DeviceClock(window: closed))
        let result = await world.submit(submission(["closed", "open"]))
        let message = try #require(try await world.message(result))
        #expect(message.slices.map(\.addresses) == [[.deviceKey("open")], [.deviceKey("closed")]])
        #expect(message.slices[0].dueAt == nil)
        let wait = try #require(message.slices[1].dueAt) - world.clock.now()
        #expect(wait > .seconds(3540) && wait <= .seconds(3600))
        #expect(result.handover.map(\.key.number) == [0])
        #expect(try await world.stores.slices(of: message.id, in: world.tenant).map(\.epoch) == [1, 0])
    }

    @Test func withoutZonesAndWindowsAListIsOneSlice() async throws {
        let world = try await CommandWorld.make()
        await device(world, "a", "a", zone("Asia/Seoul"))
        await device(world, "b", "b", .unset)
        let result = await world.submit(submission(["a", "b"]))
        #expect(try await world.message(result)?.slices.map(\.targets.count) == [2])
        #expect(result.handover.count == 1)
    }

    @Test func aLocalTimeInThePastEverywhereIsRefused() async throws {
        let world = try await CommandWorld.make()
        await device(world, "a", "a", .unset)
        let now = world.clock.now().seconds
        for (local, at, isTaken) in [
            (now - 12 * 3600 - 60, nil, false), (now - 12 * 3600 + 60, nil, true), (now + 366 * 86_400, nil, false),
            (now, world.clock.now(), false), (Int64.max / 1_000_000, nil, false),
        ] as [(Int64, Timestamp?, Bool)] {
            let result = await world.submit(submission(["a"], local: LocalTime(seconds: local), at: at))
            #expect((world.messageID(result) != nil) == isTaken, "\(local)")
        }
    }

    @Test func anUnknownTimeZoneIsRefused() async throws {
        let clock = DeviceClock(timeZone: TimeZoneName(stored: "Mars/Base"))
        let registration = DeviceRegistration(key: "k", platform: .ios, clock: clock)
        #expect(try await CommandWorld.make().registration(.register(registration)) == .refused(.invalid("timeZone")))
    }
}
