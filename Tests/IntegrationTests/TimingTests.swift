import CommandSupport
import Foundation
import Model
import Testing

/// Time zones, quiet hours, windows and caps, from the provisioning file and the native API to the push.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TimingTests {
    private static let zones = ["Asia/Seoul", "UTC", "America/New_York"]

    @Test func devicesAreRungWhenTheirHoursAllowIt() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            let devices = try await register(world)
            try await sendsAtLocalTimes(world, devices)
            try await keepsTheWindow(world, devices)
            try await keepsQuiet(world, devices)
            try await caps(world)
            try await refusals(world)
        }
    }

    private func register(_ world: World) async throws -> [String] {
        var ids: [String] = []
        for (index, zone) in Self.zones.enumerated() {
            let answer = try await world.native(
                "POST",
                "/v1/devices",
                [
                    "app": "shop", "platform": "ios", "token": .string(String(format: "%064x", index + 1)),
                    "key": .string("device-\(index)"), "timeZone": .string(zone),
                ]
            )
            try #require(answer.status == 201, "\(answer.text)")
            ids.append(try #require(answer.json?["id"]?.string))
        }
        let shown = try await world.native("GET", "/v1/devices/\(ids[0])")
        #expect(shown.json?["timeZone"]?.string == "Asia/Seoul" && shown.json?["receivingWindow"] == .null)
        return ids
    }

    private func send(_ world: World, _ fields: JSON = [:]) async throws -> String {
        var body = JSONObject([("app", "shop"), ("to", "everyone"), ("body", "b")])
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        let answer = try await world.native("POST", "/v1/messages", .object(body))
        try #require(answer.status == 202, "\(answer.text)")
        return try #require(answer.json?["id"]?.string)
    }

    /// The explanation of a message's only target on a device, once it is in the queue or has its outcome.
    private func explained(_ world: World, _ message: String, _ device: String) async throws -> String {
        try await first("a delivery to \(device)", every: .milliseconds(100)) {
            let command = ["message", "show", message, "--tenant", "acme", "--device", device]
            let log = try await world.command(command).log
            return log.contains("It waits until") || log.contains("suppressed") ? log : nil
        }
    }

    /// Sends at a local time that is a few seconds away in Seoul and hours away in the other zones.
    private func sendsAtLocalTimes(_ world: World, _ devices: [String]) async throws {
        let seoul = TimeZoneName(stored: "Asia/Seoul")
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let local = LocalTime(now + .seconds(4), in: seoul)
        let message = try await send(world, ["sendAt": ["local": .string(local.description)]])
        let shown = try await world.native("GET", "/v1/messages/\(message)")
        #expect(shown.json?["localDue"]?.string == local.description, "\(shown.text)")
        let log = try await explained(world, message, devices[1])
        #expect(log.contains("because it is then \(local) in the device's time zone, UTC"), "\(log)")
        try await sent(world, message, 1)
        _ = try await world.native("DELETE", "/v1/messages/\(message)")
    }

    /// Waits until the given number of pushes of a message was accepted.
    private func sent(
        _ world: World,
        _ message: String,
        _ count: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually("\(count) are sent", sourceLocation: sourceLocation) {
            try await world.native("GET", "/v1/messages/\(message)").json?["funnel"]?["sent"]?.int == count
        }
    }

    private func keepsTheWindow(_ world: World, _ devices: [String]) async throws {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let minute = LocalTime(now, in: .utc).minute
        let window: JSON = [
            "from": .string(DailyWindow.text((minute + 120) % 1440)),
            "to": .string(DailyWindow.text((minute + 240) % 1440)),
        ]
        let path = "/v1/devices/\(devices[1])"
        let patched = try await world.native("PATCH", path, ["receivingWindow": window])
        #expect(patched.json?["receivingWindow"] == window, "\(patched.text)")
        let message = try await send(world)
        try await sent(world, message, 2)
        let log = try await explained(world, message, devices[1])
        #expect(log.contains("because of the device's receiving window"), "\(log)")
        // An hour of life is over before it opens.
        let short = try await send(world, ["ttlSeconds": 3600, "to": ["devices": [.string(devices[1])]]])
        #expect(try await world.funnel(of: short)["suppressed"]?.int == 1)
        #expect(try await explained(world, short, devices[1]).contains("opensTooLate"))
        let whole = try await world.native("PATCH", path, ["receivingWindow": ["from": "0000", "to": "2359"]])
        #expect(whole.json?["receivingWindow"] == .null)
        _ = try await world.native("DELETE", "/v1/messages/\(message)")
    }

    private func provision(_ world: World, _ settings: String) async throws {
        let plain = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let text = plain.replacing("    - id: shop\n", with: "    - id: shop\n        \(settings)\n")
        try #require(text != plain)
        try Data(text.utf8).write(to: URL(fileURLWithPath: world.material.path("timed.yaml")))
        let applied = try await world.apply("timed.yaml")
        try #require(applied.status == 0, "\(applied.log)")
    }

    private func keepsQuiet(_ world: World, _ devices: [String]) async throws {
        let minute = LocalTime(Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)), in: .utc).minute
        let (from, to) = (DailyWindow.text((minute + 1380) % 1440), DailyWindow.text((minute + 120) % 1440))
        try await provision(world, #"quietHours: { from: "\#(from)", to: "\#(to)", zone: UTC }"#)
        let message = try await send(world)
        let log = try await explained(world, message, devices[0])
        #expect(log.contains("because of the app's quiet hours, \(from) to \(to) in UTC"), "\(log)")
        // An alarm is one at night too.
        try await sent(world, try await send(world, ["urgent": true]), 3)
        _ = try await world.native("DELETE", "/v1/messages/\(message)")
        try await provision(world, #"quietHours: { from: "\#(from)", to: "\#(to)", zone: UTC, outside: suppress }"#)
        let funnel = try await world.funnel(of: try await send(world))
        #expect(funnel["suppressed"]?.int == 3 && funnel["sent"]?.int == 0, "\(JSONWriter.text(funnel))")
    }

    private func caps(_ world: World) async throws {
        // In this hour Seoul was sent three messages, New York two and UTC, whose window was closed, one.
        try await provision(world, "frequencyCap: { count: 3, per: 1h }")
        for (sent, suppressed) in [(2, 1), (1, 2), (0, 3)] as [(Int64, Int64)] {
            let funnel = try await world.funnel(of: try await send(world))
            #expect(
                funnel["sent"]?.int == sent && funnel["suppressed"]?.int == suppressed,
                "\(JSONWriter.text(funnel))"
            )
        }
    }

    private func refusals(_ world: World) async throws {
        for sendAt in [
            ["local": "tomorrow"], ["local": "2026-02-30T09:00:00"], ["local": "2001-01-01T09:00:00"], [:],
            ["local": "2026-12-01T09:00:00", "zone": "UTC"], ["local": 5], "soon",
        ] as [JSON] {
            let body: JSON = ["app": "shop", "to": "everyone", "body": "b", "sendAt": sendAt]
            #expect(try await world.native("POST", "/v1/messages", body).status == 422, "\(JSONWriter.text(sendAt))")
        }
        for (key, value) in [
            ("timeZone", "CET"), ("timeZone", "Mars/Base"), ("timeZone", 5), ("receivingWindow", "0900-2100"),
            ("receivingWindow", ["from": "0900"]), ("receivingWindow", ["from": "0900", "to": "2460"]),
            ("receivingWindow", ["from": "0900", "to": "2100", "days": []]),
        ] as [(String, JSON)] {
            let body = JSONObject([("app", "shop"), ("platform", "ios"), ("key", "k"), (key, value)])
            let answer = try await world.native("POST", "/v1/devices", .object(body))
            #expect(answer.status == 422 && answer.text.contains(key), "\(answer.text)")
        }
    }
}
