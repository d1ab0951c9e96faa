import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// Registrations whose IDs a hub at the vendor has drawn, before and after the gateway serves the calls of the app (docs/routing.md#ids-that-apps-keep).
@Suite(.serialized, .timeLimit(.minutes(10))) struct HubRegistrationTests {
    private let hubs = NotificationHubsTests()

    private static func token(_ number: Int) -> String { String(format: "%064x", 0x5EED10 + number) }

    private static func description(_ number: Int) -> String {
        "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><AppleRegistrationDescription"
            + " xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><Tags>news</Tags>"
            + "<DeviceToken>\(token(number))</DeviceToken></AppleRegistrationDescription></content></entry>"
    }

    private func with(_ body: (World, VendorStub) async throws -> Void) async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindNotificationHubs()
            let key = NotificationHubsTests.fullKey
            let vendor = try await VendorStub.start(
                ["notificationhubs", "--set", "hub=shop-hub", "--set", "fullKey=\(key)"],
                world
            )
            try await closing(vendor.stop) {
                try await world.place(
                    [
                        "kind": "upstream-notificationhubs", "url": .string(vendor.url), "hub": "shop-hub",
                        "keyName": "DefaultFullSharedAccessSignature", "key": .string(key),
                    ],
                    ["calls": [["action": "proxy", "upstream": "old"]]]
                )
                try await body(world, vendor)
            }
        }
    }

    /// Requests an ID, and returns it.
    private func draw(_ world: World) async throws -> String {
        let drawn = try await hubs.call(world, .POST, "/registrationids")
        try #require(drawn.status == 201, "\(drawn.text)")
        return try #require(drawn.id)
    }

    /// Writes the registration, and returns its status and its version.
    private func put(_ id: String, _ number: Int, match: String? = nil, _ world: World) async throws -> String {
        let answer = try await hubs.call(
            world,
            .PUT,
            "/registrations/\(id)",
            Self.description(number),
            headers: match.map { ["If-Match": $0] } ?? [:]
        )
        return "\(answer.status) \(answer.header("etag") ?? "")"
    }

    private func tokens(at vendor: VendorStub) async throws -> [String] {
        let devices = try await vendor.control.call("GET", "/_stub/state").json?["devices"]?.array ?? []
        return devices.compactMap { $0["token"]?.string?.lowercased() }
    }

    @Test func anIDOfTheVendorIsKeptAndItsCallsReachBothSides() async throws {
        try await with { world, vendor in
            let id = try await draw(world)
            #expect(try await put(id, 1, world) == "200 W/\"1\"")
            #expect(try await tokens(at: vendor) == [Self.token(1)])
            let stored = """
                SELECT count(*)::text AS value FROM gateway.identity WHERE key = 'r/\(id)' AND state = 'active'
                """
            try await eventually("the registration is known") { try await world.value(stored) == "1" }

            let rule: JSON = ["kinds": ["device"], "action": "serveAndForward", "upstream": "old"]
            try await world.rule(["calls": [rule]], after: 1)
            // The gateway has the vendor's ID and version.
            let read = try await hubs.call(world, .GET, "/registrations/\(id)")
            #expect(read.status == 200 && read.text.contains("<RegistrationId>\(id)<"), "\(read.text)")
            #expect(try await put(id, 2, world) == "200 W/\"2\"")
            try await eventually("the vendor has the new token") { try await tokens(at: vendor) == [Self.token(2)] }
            // A call for one version, and an ID that the vendor does not know, stay here.
            #expect(try await put(id, 3, match: "W/\"1\"", world).hasPrefix("412"))
            let own = try await draw(world)
            #expect(try await put(own, 4, world) == "200 W/\"1\"")

            let removed = try await hubs.call(
                world,
                .DELETE,
                "/registrations/\(id)",
                headers: ["If-Match": "*"]
            )
            #expect(removed.status == 200)
            try await eventually("the vendor has no registration") { try await tokens(at: vendor).isEmpty }
            try await eventually("no call waits") {
                try await world.value("SELECT count(*)::text AS value FROM gateway.outbox") == "0"
            }
            let calls = try await vendor.calls(to: "/shop-hub/registrations/")
            #expect(calls.compactMap { $0["method"]?.string } == ["PUT", "PUT", "DELETE"], "\(calls)")
            #expect(calls.allSatisfy { $0["target"]?.string?.contains(id) ?? false })
        }
    }
}
