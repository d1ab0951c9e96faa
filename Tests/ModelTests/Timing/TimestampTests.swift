import Model
import Testing

/// Times and days.
struct TimestampTests {
    @Test(arguments: [
        (0, 0), (86_399_999, 0), (86_400_000, 1), (-1, -1), (-86_400_000, -1), (-86_400_001, -2),
        (1_731_999_999_123, 20_046),
    ])
    func daysAreCountedInUTC(milliseconds: Int64, day: Int32) {
        #expect(Timestamp(milliseconds: milliseconds).day == day)
    }

    @Test func additionStaysAtTheFarEnd() {
        #expect((Timestamp(milliseconds: .max) + .seconds(1)).milliseconds == .max)
        #expect(Timestamp(milliseconds: 1500) - Timestamp(milliseconds: 500) == .seconds(1))
        #expect(Duration.milliseconds(1500).milliseconds == 1500)
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_789_999_999_123, "2026-09-21T14:13:19.123Z"),
        (951_782_400_007, "2000-02-29T00:00:00.007Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func rfc3339TextIsWrittenAndReadBack(_ milliseconds: Int64, _ text: String) {
        let time = Timestamp(milliseconds: milliseconds)
        #expect(time.rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == time)
        #expect(time.rfc3339Date == text.prefix(10))
    }

    @Test func timesBeyondTheCalendarAreWrittenAsItsEnd() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: -1).rfc3339 == "1969-12-31T23:59:59.999Z")
    }

    @Test(arguments: [
        ("2026-12-25T13:30:00Z", 1_798_205_400_000), ("2026-12-25t13:30:00z", 1_798_205_400_000),
        ("2026-12-25T22:30:00+09:00", 1_798_205_400_000), ("2026-12-25 09:00:00-0430", 1_798_205_400_000),
        ("2026-12-25T13:30:00.5Z", 1_798_205_400_500), ("2026-12-25T13:30:00.123456789Z", 1_798_205_400_123),
    ])
    func offsetsAndFractionsAreRead(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026-12-25", "2026-12-25T13:30:00", "2026-12-25T13:30Z", "2026-02-30T00:00:00Z", "2026-12-25T24:00:00Z",
        "2026-12-25T13:30:60Z", "2026-12-25T13:30:00.Z", "2026-12-25T13:30:00+9", "2026-12-25T13:30:00+09:60",
        "2026-12-25T13:30:00Zx", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00", "2026-12-25T13:30:00+a9:00",
    ])
    func otherFormatsThanRFC3339AreRefused(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }
}
