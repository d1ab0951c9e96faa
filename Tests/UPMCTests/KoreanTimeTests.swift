import Model
import Testing

@testable import UPMC

/// Times in Korea, docs/contracts/upmc.md#1.9.1 and docs/contracts/upmc.md#1.10.1.
struct KoreanTimeTests {
    @Test func timesAreNineHoursAheadOfUTC() {
        // 2016-04-14 08:22:00 UTC: the date of the vendor's example.
        let time = Timestamp(seconds: 1_460_622_120)
        #expect(KoreanTime(time).sendDate == "2016041417")
        #expect(KoreanTime(time).whole == "20160414172200")
        #expect(KoreanTime(time).pageName == "0414172200")
        #expect(KoreanTime(reservation: "20160414 172200")?.timestamp == time)
    }

    @Test func everyDayOfACenturyIsReadBack() {
        for day in stride(from: Int64(0), to: 40_000, by: 1) {
            let time = Timestamp(seconds: day * 86_400 + 12_345)
            #expect(KoreanTime(time).timestamp == time)
            #expect(KoreanTime(reservation: KoreanTime(time).whole)?.timestamp == time)
        }
    }

    @Test(arguments: [
        "", "2016", "20160431 000000", "20160414 240000", "20160414 006000", "99999999 999999", "2016-04-14 17:22",
        "00000101 000000", "20150229 000000",
    ])
    func invalidTimesAreRefused(_ text: String) { #expect(KoreanTime(reservation: text) == nil) }
}
