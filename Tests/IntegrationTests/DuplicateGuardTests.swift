import CommandSupport
import Foundation
import Model
import Testing

/// Messages with the same text through different entry points (docs/routing.md#cross-vendor-duplicates).
@Suite(.timeLimit(.minutes(10))) struct DuplicateGuardTests {
    private static let guarded: JSON = ["window": "10m"]

    private func send(_ text: String, _ braze: BrazeCaller) async throws -> BrazeCaller.Answer {
        let body: JSON = [
            "external_user_ids": ["user-1"], "messages": ["apple_push": ["alert": .string(text)]],
        ]
        let answer = try await braze.call("/messages/send", JSONWriter.text(body))
        try #require(answer.status == 201, "\(answer.text)")
        return answer
    }

    @Test func ofTwoSendsInTwoInterfacesTheLaterOneIsSuppressed() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await world.bindBraze()
            let braze = BrazeCaller(world: world)
            try await braze.importDevices([(1, "user-1")])
            let user: JSON = ["users": ["user-1"]]
            // The control: without the guard both are pushed.
            _ = try await send("unguarded", braze)
            _ = try await braze.push(1, count: 1)
            _ = try await world.send("unguarded", to: user)
            _ = try await braze.push(1, count: 2)

            try await world.administer()
            try await world.rule(["duplicateGuard": Self.guarded], after: 0)
            _ = try await send("once", braze)
            _ = try await braze.push(1, count: 3)
            let later = try await world.send("once", to: user)
            try await eventually("the later one is suppressed") {
                try await world.deliveries(of: later) == ["suppressed crossVendorDuplicate"]
            }
            let target = try await world.value(
                "SELECT d.target_id::text AS value FROM gateway.delivery d WHERE d.message_id = '\(later)'::uuid"
            )
            let shown = try await world.native("GET", "/v1/messages/\(later)/deliveries/\(target)")
            let earlier = try await world.value(
                "SELECT m.duplicate_of::text AS value FROM gateway.message m WHERE m.message_id = '\(later)'::uuid"
            )
            #expect(shown.json?["explanation"]?["duplicateOf"]?.string == earlier, "\(shown.text)")
            #expect(shown.json?["explanation"]?["meaning"]?.string?.contains("the same text") == true)
            // Equal messages through one entry point are different messages, and so are other texts.
            _ = try await send("once", braze)
            _ = try await braze.push(1, count: 4)
            _ = try await world.send("twice", to: user)
            _ = try await braze.push(1, count: 5)
            let alerts = try await braze.alerts(1).map { $0.string ?? $0["body"]?.string ?? "" }
            #expect(alerts.count { $0 == "once" } == 2 && alerts.count { $0 == "unguarded" } == 2, "\(alerts)")
        }
    }

    // The same dialect, on two sides.
    @Test func aMessageOfTheVendorIsNotPushedAgainByTheGateway() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindBraze()
            let braze = BrazeCaller(world: world)
            let vendor = try await VendorStub.start(["braze"], world)
            try await closing(vendor.stop) {
                try await braze.importDevices([(1, "user-1")])
                try await world.place(
                    ["kind": "upstream-braze", "url": .string(vendor.url), "restKey": .string(BrazeCaller.key)],
                    [
                        "duplicateGuard": Self.guarded,
                        "calls": [["kinds": ["send"], "action": "proxy", "upstream": "old"]],
                    ]
                )
                _ = try await send("seen", braze)
                #expect(try await vendor.calls(to: "/messages/send").count == 1)
                try await eventually("the vendor's message is known") {
                    try await world.value(
                        "SELECT count(*)::text AS value FROM gateway.delivery WHERE transport = 'observed:braze'"
                    ) == "1"
                }
                let later = try await world.send("seen", to: ["users": ["user-1"]])
                try await eventually("the later one is suppressed") {
                    try await world.deliveries(of: later) == ["suppressed crossVendorDuplicate"]
                }
                _ = try await world.send("unseen", to: ["users": ["user-1"]])
                _ = try await braze.push(1, count: 1)
            }
        }
    }
}
