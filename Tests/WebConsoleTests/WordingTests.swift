import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// Values as the pages of operations write them.
struct WordingTests {
    private let en = Wording(OperationsStage.request(.en))
    private let ko = Wording(OperationsStage.request(.ko))

    @Test func numbersHaveSeparatorsAndUnknownIsNotZero() {
        let numbers: [(Int64?, String)] = [
            (0, "0"), (nil, "–"), (1_204_331, "1,204,331"), (-1000, "−1,000"), (.min, "−9,223,372,036,854,775,808"),
        ]
        for (number, text) in numbers { #expect(en.count(number) == text) }
        #expect(en.share(0.999) == "99.9%" && en.share(0.0005) == "0.05%" && en.share(.nan) == "–")
        #expect(en.decimal(1.5) == "1.5" && en.decimal(2) == "2" && en.decimal(1e300) == "–")
        #expect(en.bytes(512) == "512 bytes" && ko.bytes(2_500_000) == "2.5 MB")
    }

    @Test func timesLeaveTheZoneToTheTopBar() {
        let text: JSON = "2026-11-23T05:05:07.204Z"
        #expect(en.time(text) == "Mon 23 Nov 14:05" && ko.time(text) == "11월 23일 (월) 14:05")
        #expect(en.exactTime(text) == "Mon 23 Nov 14:05:07.204")
        #expect(en.time("2025-01-01T00:00:00.000Z") == "Wed 1 Jan 2025 09:00")
        #expect(en.time("never") == "–" && en.time(nil as JSON?) == "–")
        for extreme in [Int64.min, .max] { #expect(!en.time(Timestamp(milliseconds: extreme)).isEmpty) }
    }

    @Test func lengthsAreInTheirLargestUnit() {
        #expect(en.duration(.seconds(59)) == "59 s" && ko.duration(.seconds(7200)) == "2시간")
        #expect(en.duration(.seconds(200_000)) == "2 days")
        #expect(en.ago(OperationsStage.now + .seconds(-120)) == "2 min ago")
        // A clock that is ahead.
        #expect(en.ago(OperationsStage.now + .seconds(120)) == "0 s ago")
    }

    @Test func aLocalTimeOfAFormIsInTheZoneOfThePage() {
        #expect(en.instant("2026-12-01T09:00")?.rfc3339 == "2026-12-01T00:00:00.000Z")
        for wrong in ["", "2026-13-01T00:00", "2026-02-30T00:00", "2026-12-01T24:00", "x", "2026-12-01"] {
            #expect(en.instant(wrong) == nil, "\(wrong)")
        }
    }

    @Test func segmentsAreCoded() {
        #expect(APICall.segment("a/b c?d#e%") == "a%2Fb%20c%3Fd%23e%25")
        #expect(APICall.segment("..") == "%2E%2E" && APICall.segment("v1.2") == "v1.2")
        #expect(APICall.segment("가") == "%EA%B0%80")
        #expect(Link.path("apps", "a/b", "routes") == "apps/a%2Fb/routes")
    }
}
