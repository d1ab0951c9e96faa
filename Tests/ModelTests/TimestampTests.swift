import Model
import Testing

/// Moments and days.
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
}
