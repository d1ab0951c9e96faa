import Foundation
import Testing

@testable import Model

@Suite struct WeekHourTests {
    // 2026-11-26 is a Thursday.
    @Test func theWeekBeginsOnMonday() {
        func hour(_ day: Int64, _ hour: Int64, offset: Int64 = 0) -> Int16 {
            WeekHour(at: Timestamp(seconds: 1_795_651_200 + day * 86_400 + hour * 3600 + 1800), offset: offset).index
        }
        #expect(Timestamp(seconds: 1_795_651_200).rfc3339Date == "2026-11-26")
        #expect(hour(0, 13) == 3 * 24 + 13)
        #expect(hour(4, 0) == 0 && hour(3, 23) == 167)
        #expect(hour(3, 23, offset: 3600) == 0 && hour(4, 0, offset: -3600) == 167)
        #expect(WeekHour(at: Timestamp(seconds: 0), offset: 0).index == 72)
        #expect(WeekHour(at: Timestamp(seconds: -1), offset: 0).index == 71)
        #expect(WeekHour(-1) == nil && WeekHour(168) == nil && WeekHour(167)?.index == 167)
        _ = WeekHour(at: Timestamp(milliseconds: .max), offset: 50_400)
        _ = WeekHour(at: Timestamp(milliseconds: .min), offset: -50_400)
    }

    @Test func theHourIsThatOfTheZoneAlsoAcrossAChangeOfTheClocks() throws {
        var hours = WeekHours()
        let berlin = TimeZoneName(stored: "Europe/Berlin")
        // 2026-10-25, a Sunday: at 01:00 UTC the clocks go back from 03:00 to 02:00.
        let change = try #require(Timestamp(rfc3339: "2026-10-25T01:00:00Z"))
        #expect(hours.hour(at: change + .seconds(-1), in: berlin)?.index == Int16(146))
        #expect(hours.hour(at: change, in: berlin)?.index == Int16(146))
        #expect(hours.hour(at: change + .seconds(3600), in: berlin)?.index == Int16(147))
        #expect(hours.hour(at: change, in: TimeZoneName(stored: "Asia/Kathmandu"))?.index == Int16(150))
        for _ in 0..<2 { #expect(hours.hour(at: change, in: TimeZoneName(stored: "Mars/Olympus")) == nil) }
        for number in 0..<500 { _ = hours.hour(at: change + .seconds(900 * Int64(number)), in: berlin) }
    }
}
