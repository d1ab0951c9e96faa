import Commands
import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import PostgresClient
@testable import Store

/// Comparisons of an export with the stored devices.
@Suite struct StoreCompareTests {
    private let identifiers = TestIdentifiers()

    private func row(_ key: String, _ token: String?, user: String? = nil, accepts: Bool? = nil) -> DeviceRegistration {
        var row = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: .ios,
            token: token.flatMap { DeviceToken(apns: $0) },
            user: user.map { UserID($0) }
        )
        row.imported.acceptsPush = accepts
        return row
    }

    @Test func eachDifferenceIsFoundAndNothingChanges() async throws {
        let fixture = try await StoreFixture.make()
        let now = try await fixture.now()
        let stored = [
            row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2"), row("k3", "aa03"), row("k4", "aa04"),
            row("k5", nil), row("k6", "aa06"),
        ]
        #expect(try await fixture.importDevices(stored, identifiers, at: now) == .init(created: 6))
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k6")))
        var newer = row("k3", "aa03")
        newer.imported.registeredAt = now + .seconds(3600)
        let rows = [
            row("k1", "aa01", user: "u1", accepts: true), row("k2", "bb02", user: "x2"), newer,
            row("k4", "aa04", accepts: false), row("k5", "aa05"), row("k6", "aa06"), row("k7", "aa07"),
            // A key that the import derived is about the device with the token.
            row("token-1", "aa01"), row("k1", nil),
        ]
        let found = try await fixture.commands.run(ImportRules.compare(rows, fixture.scope), in: fixture.acme)
            .sorted { $0.place < $1.place }
        #expect(found.map(\.place) == [0, 1, 2, 3, 4, 7, 8])
        #expect(found.map(\.tokenDiffers) == [false, true, false, false, true, false, false])
        #expect(found.map(\.userDiffers) == [false, true, false, false, false, false, false])
        #expect(found.map(\.pushDiffers) == [false, false, false, true, false, false, false])
        #expect(found.map(\.isNewer) == [false, false, true, false, false, false, false])
        #expect(Set([found[0], found[5], found[6]].map(\.identity)).count == 1)
        // The comparison has changed nothing.
        #expect(try await fixture.importDevices(Array(stored.prefix(5)), identifiers, at: now) == .init(unchanged: 5))
    }

    @Test func theCountsAreFoundForADay() async throws {
        let fixture = try await StoreFixture.make()
        let audit = PostgresAuditStore(call: fixture.call)
        #expect(try await audit.comparison(fixture.scope, in: fixture.acme) == nil)
        for exported in [3, 5] {
            var summary = ComparisonSummary()
            (summary.exported, summary.onlyHere) = (exported, 1)
            summary.samples = [["difference": "onlyHere", "key": "…504f"]]
            let request = ImportRules.compared(summary, fixture.scope, by: .command(user: 0))
            try await fixture.commands.run(request, in: fixture.acme)
        }
        let found = try #require(try await audit.comparison(fixture.scope, in: fixture.acme))
        #expect(found.summary.exported == 5 && found.summary.onlyHere == 1)
        #expect(found.summary.samples == [["difference": "onlyHere", "key": "…504f"]])
        let other = AppScope(app: fixture.scope.app, vendor: "other")
        #expect(try await audit.comparison(other, in: fixture.acme) == nil)
        // A day later it counts as no data.
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            "UPDATE gateway.audit SET at = at - interval '25 hours' WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        await admin.close()
        #expect(try await audit.comparison(fixture.scope, in: fixture.acme) == nil)
        // A longer period finds it.
        let old = try await audit.comparison(fixture.scope, in: fixture.acme, within: .seconds(172_800))
        #expect(old?.summary == found.summary)
    }
}
