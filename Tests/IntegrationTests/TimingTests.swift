import CommandSupport
import Foundation
import Gateway
import Model
import Testing

/// Time zones, quiet hours, windows and caps, from the provisioning file and the native API to the push.
///
/// All tests share one app. Each test has its own devices.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct TimingTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// The minute of the day in UTC.
    private var minute: Int {
        LocalTime(Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)), in: .utc).minute
    }

    /// Registers a device in each zone and returns their ids.
    private func register(
        _ zones: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        var ids: [String] = []
        for zone in zones {
            let token = SystemIdentifiers().randomHex(byteCount: 32)
            let device: JSON = [
                "app": "shop", "platform": "ios", "token": .string(token), "key": .string("device-\(token)"),
                "timeZone": .string(zone),
            ]
            let answer = try await world.native("POST", "/v1/devices", device)
            try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
            ids.append(try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation))
        }
        return ids
    }

    private func send(
        to devices: [String],
        _ fields: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let to: JSON = ["devices": .array(devices.map { .string($0) })]
        var body = JSONObject([("app", "shop"), ("to", to), ("body", "b")])
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        let answer = try await world.native("POST", "/v1/messages", .object(body))
        try #require(answer.status == 202, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }

    /// The explanation of a message's only target on a device, once it is in the queue or has its outcome.
    private func explained(
        _ message: String,
        _ device: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        try await first("a delivery to \(device)", every: .milliseconds(100), sourceLocation: sourceLocation) {
            let command = ["message", "show", message, "--tenant", "acme", "--device", device]
            let log = try await world.command(command).log
            return log.contains("It waits until") || log.contains("suppressed") ? log : nil
        }
    }

    /// Waits until the given number of pushes of a message was accepted.
    private func sent(
        _ message: String,
        _ count: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually("\(count) are sent", sourceLocation: sourceLocation) {
            try await world.native("GET", "/v1/messages/\(message)").json?["funnel"]?["sent"]?.int == count
        }
    }

    // MARK: Local times

    @Test func aDeviceShowsItsZone() async throws {
        let device = try await register("Asia/Seoul")[0]
        let shown = try await world.native("GET", "/v1/devices/\(device)")
        #expect(shown.json?["timeZone"]?.string == "Asia/Seoul" && shown.json?["receivingWindow"] == .null)
    }

    @Test func aMessageForALocalTimeIsSentAtThatTimeInTheDevicesZone() async throws {
        let devices = try await register("Asia/Seoul", "UTC", "America/New_York")
        // The time is a few seconds away in Seoul and hours away in the other zones.
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let local = LocalTime(now + .seconds(4), in: TimeZoneName(stored: "Asia/Seoul"))
        let message = try await send(to: devices, ["sendAt": ["local": .string(local.description)]])
        let shown = try await world.native("GET", "/v1/messages/\(message)")
        #expect(shown.json?["localDue"]?.string == local.description, "\(shown.text)")
        let log = try await explained(message, devices[1])
        #expect(log.contains("because it is then \(local) in the device's time zone, UTC"), "\(log)")
        try await sent(message, 1)
        _ = try await world.native("DELETE", "/v1/messages/\(message)")
    }

    // MARK: Windows

    /// Lets a device receive from two hours to four hours from now.
    private func close(_ device: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let window: JSON = [
            "from": .string(DailyWindow.text((minute + 120) % 1440)),
            "to": .string(DailyWindow.text((minute + 240) % 1440)),
        ]
        let patched = try await world.native("PATCH", "/v1/devices/\(device)", ["receivingWindow": window])
        #expect(patched.json?["receivingWindow"] == window, "\(patched.text)", sourceLocation: sourceLocation)
    }

    @Test func aMessageWaitsForTheReceivingWindowOfADevice() async throws {
        let devices = try await register("UTC", "UTC", "UTC")
        try await close(devices[1])
        let message = try await send(to: devices)
        try await sent(message, 2)
        let log = try await explained(message, devices[1])
        #expect(log.contains("because of the device's receiving window"), "\(log)")
        _ = try await world.native("DELETE", "/v1/messages/\(message)")
    }

    @Test func aMessageThatExpiresBeforeTheWindowOpensIsSuppressed() async throws {
        let device = try await register("UTC")[0]
        try await close(device)
        let message = try await send(to: [device], ["ttlSeconds": 3600])
        #expect(try await world.funnel(of: message)["suppressed"]?.int == 1)
        #expect(try await explained(message, device).contains("opensTooLate"))
    }

    @Test func aWindowOfTheWholeDayDelaysNothing() async throws {
        let device = try await register("UTC")[0]
        try await close(device)
        let window: JSON = ["from": "0000", "to": "2359"]
        let whole = try await world.native("PATCH", "/v1/devices/\(device)", ["receivingWindow": window])
        #expect(whole.json?["receivingWindow"] == .null, "\(whole.text)")
    }

    // MARK: Settings of the app

    /// Runs `body` while the app has these settings.
    private func with(
        _ settings: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async throws {
        let world = try world
        let plain = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let text = plain.replacing("    - id: shop\n", with: "    - id: shop\n        \(settings)\n")
        try #require(text != plain, sourceLocation: sourceLocation)
        try Data(text.utf8).write(to: URL(fileURLWithPath: world.material.path("timed.yaml")))
        let applied = try await world.apply("timed.yaml")
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        try await closing {
            let restored = try await world.apply()
            try #require(restored.status == 0, "\(restored.log)", sourceLocation: sourceLocation)
        } after: {
            try await body()
        }
    }

    /// The window from an hour ago to two hours from now.
    private var quiet: (from: String, to: String) {
        (DailyWindow.text((minute + 1380) % 1440), DailyWindow.text((minute + 120) % 1440))
    }

    @Test func onlyUrgentMessagesAreSentInQuietHours() async throws {
        let devices = try await register("Asia/Seoul", "UTC", "America/New_York")
        let (from, to) = quiet
        try await with(#"quietHours: { from: "\#(from)", to: "\#(to)", zone: UTC }"#) {
            let message = try await send(to: devices)
            let log = try await explained(message, devices[0])
            #expect(log.contains("because of the app's quiet hours, \(from) to \(to) in UTC"), "\(log)")
            try await sent(try await send(to: devices, ["urgent": true]), 3)
            _ = try await world.native("DELETE", "/v1/messages/\(message)")
        }
    }

    @Test func quietHoursMaySuppressInsteadOfDelay() async throws {
        let devices = try await register("Asia/Seoul", "UTC", "America/New_York")
        let (from, to) = quiet
        try await with(#"quietHours: { from: "\#(from)", to: "\#(to)", zone: UTC, outside: suppress }"#) {
            let funnel = try await world.funnel(of: try await send(to: devices))
            #expect(funnel["suppressed"]?.int == 3 && funnel["sent"]?.int == 0, "\(JSONWriter.text(funnel))")
        }
    }

    @Test func aDeviceGetsAtMostTheMessagesOfTheCap() async throws {
        let devices = try await register("UTC", "UTC", "UTC")
        // Earlier messages count too.
        try await sent(try await send(to: [devices[0]]), 1)
        try await sent(try await send(to: [devices[0], devices[1]]), 2)
        try await with("frequencyCap: { count: 3, per: 1h }") {
            for (sent, suppressed) in [(3, 0), (2, 1), (1, 2), (0, 3)] as [(Int64, Int64)] {
                let funnel = try await world.funnel(of: try await send(to: devices))
                #expect(
                    funnel["sent"]?.int == sent && funnel["suppressed"]?.int == suppressed,
                    "\(JSONWriter.text(funnel))"
                )
            }
        }
    }

    // MARK: Refusals

    @Test(
        arguments: [
            ["local": "tomorrow"], ["local": "2026-02-30T09:00:00"], ["local": "2001-01-01T09:00:00"], [:],
            ["local": "2026-12-01T09:00:00", "zone": "UTC"], ["local": 5], "soon",
        ] as [JSON]
    )
    func anInvalidTimeIsRefused(sendAt: JSON) async throws {
        let body: JSON = ["app": "shop", "to": "everyone", "body": "b", "sendAt": sendAt]
        #expect(try await world.native("POST", "/v1/messages", body).status == 422)
    }

    @Test(
        arguments: [
            ("timeZone", "CET"), ("timeZone", "Mars/Base"), ("timeZone", 5), ("receivingWindow", "0900-2100"),
            ("receivingWindow", ["from": "0900"]), ("receivingWindow", ["from": "0900", "to": "2460"]),
            ("receivingWindow", ["from": "0900", "to": "2100", "days": []]),
        ] as [(String, JSON)]
    )
    func anInvalidZoneOrWindowIsRefused(key: String, value: JSON) async throws {
        let body = JSONObject([("app", "shop"), ("platform", "ios"), ("key", "k"), (key, value)])
        let answer = try await world.native("POST", "/v1/devices", .object(body))
        #expect(answer.status == 422 && answer.text.contains(key), "\(answer.text)")
    }
}
