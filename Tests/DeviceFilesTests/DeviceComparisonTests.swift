import DeviceFiles
import Foundation
import Model
import Testing

/// The counts of a comparison of an export with the stored devices.
@Suite struct DeviceComparisonTests {
    private let identities = (0..<40).map { _ in IdentityID(rawValue: UUID()) }

    private func rows(_ keys: Range<Int>, token: Bool = true) -> [DeviceRegistration] {
        keys.map { number in
            DeviceRegistration(
                key: VendorDeviceKey("installation-k\(number)"),
                platform: .ios,
                token: token ? DeviceToken(apns: "aa0\(number % 10)") : nil
            )
        }
    }

    private func same(_ place: Int, _ identity: Int) -> ComparedDevice {
        ComparedDevice(
            place: place,
            identity: identities[identity],
            tokenDiffers: false,
            userDiffers: false,
            pushDiffers: false,
            isNewer: false
        )
    }

    @Test func everyWayToDifferIsCounted() {
        var comparison = DeviceComparison()
        var changed = same(1, 1)
        (changed.tokenDiffers, changed.userDiffers) = (true, true)
        var muted = same(2, 2)
        (muted.pushDiffers, muted.isNewer) = (true, true)
        comparison.take(rows(0..<4), [same(0, 0), changed, muted])
        comparison.take(rows(4..<5), [same(0, 4), same(9, 5)])
        comparison.reject(1)
        for place in [0, 1, 2, 4, 7] {
            comparison.stored(identities[place], VendorDeviceKey("installation-s\(place)"), hasToken: true)
        }
        // The export lists tokens, so that a device without one cannot be in it.
        comparison.stored(identities[8], "s8", hasToken: false)
        let summary = comparison.summary
        #expect(summary.exported == 5 && summary.onlyInExport == 1 && summary.onlyHere == 1 && summary.rejected == 1)
        #expect(summary.tokenDiffers == 1 && summary.userDiffers == 1 && summary.pushDiffers == 1)
        #expect(summary.differing == 2 && summary.newerInExport == 1)
        // One only there, one only here, two that differ and one that is unreadable, of seven.
        #expect(summary.difference == 5.0 / 7.0)
        #expect(
            comparison.examples == [
                .onlyInExport: ["…n-k3"], .onlyHere: ["…n-s7"], .token: ["…n-k1"], .user: ["…n-k1"],
                .push: ["…n-k2"],
            ]
        )
    }

    @Test func anExportWithTokenlessDevicesMissesThoseToo() {
        var comparison = DeviceComparison()
        comparison.take(rows(0..<1, token: false), [])
        comparison.stored(identities[8], "s8", hasToken: false)
        #expect(comparison.summary.onlyHere == 1)
    }

    // No data must not be read as no difference.
    @Test func anEmptyExportHasNoDifference() {
        var comparison = DeviceComparison()
        comparison.reject(3)
        #expect(comparison.summary.difference == nil)
        comparison.take(rows(0..<1), [same(0, 0)])
        #expect(comparison.summary.difference == 0.75)
    }

    @Test func memoryAndExamplesAreBounded() {
        var comparison = DeviceComparison(limit: 3)
        comparison.take(rows(0..<3), (0..<3).map { same($0, $0) })
        #expect(!comparison.isTooLarge)
        comparison.take(rows(0..<40), [same(0, 3)])
        #expect(comparison.isTooLarge)
        #expect(comparison.examples[.onlyInExport]?.count == DeviceComparison.exampleLimit)
        #expect(comparison.summary.onlyInExport == 39)
    }

    // A short key may be a phone number, and a long one the address of a person.
    @Test func examplesAreMasked() {
        var comparison = DeviceComparison()
        for key in ["01012345678", "kim.cheolsu@example.com"] {
            comparison.stored(identities[0], VendorDeviceKey(key), hasToken: true)
        }
        #expect(comparison.examples == [.onlyHere: ["…", "….com"]])
    }

    @Test func aSummaryHasTwentyExamplesOfAllKinds() {
        var comparison = DeviceComparison()
        var changed = (0..<30).map { same($0, $0) }
        for place in changed.indices { changed[place].tokenDiffers = true }
        changed[7].userDiffers = true
        comparison.take(rows(0..<40), changed)
        let kinds = comparison.result.samples.compactMap { $0["difference"]?.string }
        #expect(kinds.count == 20 && kinds.filter { $0 == "user" }.count == 1)
        #expect(Set(kinds) == ["onlyInExport", "token", "user"])
        #expect(kinds.filter { $0 == "onlyInExport" }.count == 10)
        let keys = comparison.result.samples.compactMap { $0["key"]?.string }
        #expect(keys.count == 20 && keys.contains("…n-k7") && keys.allSatisfy { $0.hasPrefix("…") && $0.count == 5 })
        // The counts are those of all devices.
        #expect(comparison.result.tokenDiffers == 30 && comparison.summary.samples.isEmpty)
    }

    @Test func aSummaryIsReadAsItIsStored() throws {
        var comparison = DeviceComparison()
        comparison.take(rows(0..<9), [same(0, 0)])
        let summary = comparison.result
        #expect(summary.samples.count == 8)
        #expect(ComparisonSummary(try JSONParser.parse(JSONWriter.text(summary.json))) == summary)
        for text in ["{}", "[]", #"{"exported":-1}"#] { #expect(ComparisonSummary(try JSONParser.parse(text)) == nil) }
    }
}
