import Model
import Testing

@testable import PageParts
@testable import WebConsole

struct FormatTests {
    private let en = ConsoleFormat(.en, zone: "Asia/Seoul", now: Sample.now)
    private let ko = ConsoleFormat(.ko, zone: "Asia/Seoul", now: Sample.now)

    @Test func countsHaveSeparators() {
        #expect(en.count(0) == "0")
        #expect(en.count(999) == "999")
        #expect(en.count(1_204_331) == "1,204,331")
        #expect(en.count(-38_244) == "−38,244")
        #expect(en.count(Int64.min) == "−9,223,372,036,854,775,808")
        #expect(en.count(nil as Int64?) == "–")
        #expect(en.estimate(1000) == "≈ 1,000")
    }

    @Test func compactNumbersFollowTheLanguage() {
        #expect(en.compact(1_204_331) == "1.2M")
        #expect(en.compact(138_331) == "138k")
        #expect(en.compact(4.06) == "4.1")
        #expect(ko.compact(1_204_331) == "120만")
        #expect(ko.compact(12_000) == "1.2만")
        #expect(ko.compact(230_000_000) == "2.3억")
        #expect(ko.compact(1200) == "1,200")
        #expect(en.compact(.nan) == "–")
        #expect(en.compact(.greatestFiniteMagnitude).hasSuffix("T"))
        #expect(en.compact(-1500) == "−1.5k")
    }

    @Test func ratesNeverRoundToEverythingOrNothing() {
        #expect(en.rate(0.97) == "97.0%")
        #expect(en.rate(1) == "100.0%")
        #expect(en.rate(0.9999) == "99.9%")
        #expect(en.rate(0.00001) == "<0.1%")
        #expect(en.rate(0) == "0.0%")
        #expect(en.rate(nil) == "–")
        #expect(en.rate(1, of: 0) == "–")
        #expect(en.change(1041, from: 1000) == "+4.1%")
        #expect(en.change(900, from: 1000) == "−10.0%")
        #expect(en.change(5, from: 0) == nil)
    }

    @Test func momentsAreOnTheClockOfTheZone() {
        #expect(en.dateTime(Sample.now) == "Mon 23 Nov 14:23")
        #expect(ko.dateTime(Sample.now) == "11월 23일 (월) 14:23")
        #expect(en.zonedDateTime(Sample.now) == "Mon 23 Nov 14:23 KST")
        #expect(en.timeOfMilliseconds(Sample.now) == "14:23:05.250")
        #expect(en.shortDate(Sample.now) == "23 Nov")
        #expect(en.dateTime(nil as Timestamp?) == "–")
        #expect(en.dateTime(rfc3339: "yesterday") == "–")
        let utc = ConsoleFormat(.en, zone: "no/zone", now: Sample.now)
        #expect(utc.dateTime(Sample.now) == "Mon 23 Nov 05:23")
        #expect(utc.zoneName == "UTC")
        #expect(ConsoleFormat.name(of: "America/New_York") == "New York")
    }

    @Test func anotherYearIsNamed() throws {
        let moment = try #require(Timestamp(rfc3339: "2025-01-01T00:00:00Z"))
        #expect(en.date(moment) == "Wed 1 Jan 2025")
        #expect(ko.date(moment) == "2025년 1월 1일 (수)")
    }

    // The year of `now` is that of the zone, where a year begins before it does in UTC.
    @Test func theYearIsThatOfTheZone() throws {
        let now = try #require(Timestamp(rfc3339: "2026-12-31T16:00:00Z"))
        let before = try #require(Timestamp(rfc3339: "2026-12-31T14:59:00Z"))
        let seoul = ConsoleFormat(.en, zone: "Asia/Seoul", now: now)
        #expect(seoul.dateTime(now) == "Fri 1 Jan 01:00")
        #expect(seoul.dateTime(before) == "Thu 31 Dec 2026 23:59")
        let utc = ConsoleFormat(.en, zone: "UTC", now: now)
        #expect(utc.dateTime(before) == "Thu 31 Dec 14:59")
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func anyMomentIsWritten(_ milliseconds: Int64) {
        let moment = Timestamp(milliseconds: milliseconds)
        for format in [en, ko] {
            #expect(!format.dateTime(moment).isEmpty && !format.age(moment).isEmpty)
            #expect(!format.timeOfMilliseconds(moment).isEmpty)
        }
    }

    @Test func durationsAndSizes() {
        #expect(en.duration(milliseconds: 5) == "5 ms")
        #expect(en.duration(milliseconds: 162) == "0.2 s")
        #expect(ko.duration(milliseconds: 400) == "0.4초")
        #expect(en.duration(milliseconds: 180_000) == "3 min")
        #expect(ko.duration(milliseconds: 7_200_000) == "2시간")
        #expect(en.duration(milliseconds: 9 * 86_400_000) == "9 days")
        #expect(en.duration(milliseconds: -5) == "0 ms")
        #expect(en.age(Sample.now + .seconds(-12)) == "12 seconds ago")
        #expect(ko.age(Sample.now + .seconds(-12)) == "12초 전")
        #expect(en.age(Sample.now + .seconds(-3600)) == "1 hour ago")
        #expect(en.bytes(239) == "239 bytes")
        #expect(ko.bytes(239) == "239바이트")
        #expect(en.bytes(4 << 10) == "4.0 KiB")
        #expect(en.bytes(.max).hasSuffix("GiB"))
    }

    // MARK: Ranges

    private func range(_ query: [PageRequest.Parameter]) -> ShownRange { ShownRange(Sample.request(query: query)) }

    @Test func theDefaultIsTheLastSevenDays() {
        let range = range([])
        #expect(range.preset == .week)
        #expect(range.query.map(\.value) == ["2026-11-16T15:00:00.000Z", "2026-11-23T15:00:00.000Z", "Asia/Seoul"])
        #expect(range.interval == "day" && range.isOpen)
        #expect(range.words(.en) == "Last 7 days")
        #expect(range.permanent == range.query + [.init("range", "")])
        let fixed = self.range(range.permanent)
        #expect(fixed.isFixed && fixed.from == range.from && fixed.to == range.to && fixed.permanent.isEmpty)
        #expect(!self.range([.init("from", "2026-11-01")]).isFixed, "it ends now")
        #expect(self.range([.init("range", "nonsense")]) == range)
    }

    @Test func aDayBeginsAtAnHour() {
        let range = range([.init("range", "24h")])
        #expect(range.from.rfc3339 == "2026-11-22T06:00:00.000Z")
        #expect(range.interval == "hour")
    }

    @Test func fixedEndsAreDays() {
        let range = range([.init("from", "2026-11-01"), .init("to", "2026-11-03")])
        #expect(range.preset == nil && !range.isOpen)
        #expect(range.from.rfc3339 == "2026-10-31T15:00:00.000Z")
        #expect(range.to.rfc3339 == "2026-11-03T15:00:00.000Z")
        #expect(range.words(.en) == "Sun 1 Nov – Tue 3 Nov")
    }

    @Test func invalidEndsAreTheDefault() {
        #expect(range([.init("from", "2026-11-05"), .init("to", "2026-11-01")]).preset == .week)
        #expect(range([.init("from", "2026-13-40"), .init("to", "x")]).preset == .week)
        // At most 400 days.
        let long = range([.init("from", "1990-01-01"), .init("to", "2026-11-01")])
        #expect(long.to.seconds - long.from.seconds == 400 * 86_400)
        #expect(long.interval == "week")
    }
}
