import Model
import RationalOwl
import Testing

/// The small values of the dialect.
struct ValuesTests {
    /// docs/contracts/rationalowl.md#4.3: "keep digits; `+82`/`82` prefix followed by `1x` -> `0` + rest; accept 8-15 digits".
    @Test(arguments: [
        ("01022221111", "01022221111"), ("010-2222-1111", "01022221111"), ("+82 10-2222-1111", "01022221111"),
        ("821022221111", "01022221111"), ("+82-2-1234-5678", "82212345678"), ("0212345678", "0212345678"),
        ("12345678", "12345678"), ("123456789012345", "123456789012345"),
    ])
    func phoneNumbersBecomeNationalDigits(text: String, digits: String) {
        #expect(PhoneNumber(text)?.digits == digits)
        #expect(PhoneNumber(text)?.raw == text)
    }

    @Test(arguments: ["", "1234567", "1234567890123456", "phone", "٠١٠٢٢٢٢١١١١"])
    func otherTextsAreNotPhoneNumbers(text: String) {
        #expect(PhoneNumber(text) == nil)
    }

    /// docs/contracts/rationalowl.md#4.3: two bytes per syllable, one per ASCII character.
    @Test func koreanTextIsCountedInItsCodePage() {
        #expect(KoreanText.byteCount("") == 0)
        #expect(KoreanText.byteCount("abc 123") == 7)
        #expect(KoreanText.byteCount("공지사항입니다~") == 15)
        #expect(KoreanText.byteCount("漢字") == 4)
    }

    /// docs/contracts/rationalowl.md#8.3: `yyyy/m/d h:m:s`, a local time, leading zeros optional. The expected times
    /// are calculated by hand from Korea's +9 h.
    @Test(arguments: [
        ("2023/12/25 13:10:0", 1_703_477_400), ("2024/2/29 0:0:0", 1_709_132_400),
        ("2026/01/01 09:00:00", 1_767_225_600),
    ])
    func reservationTimesAreInSeoulTime(text: String, seconds: Int64) {
        #expect(ReservationTime.parse(text, zone: "Asia/Seoul") == Timestamp(seconds: seconds))
    }

    @Test(arguments: [
        "", "2023/12/25", "2023-12-25 13:10:00", "2023/13/1 0:0:0", "2023/2/29 0:0:0", "2023/12/25 24:0:0",
        "2023/12/25 1:60:0", "2023/12/25 1:2", "99999/1/1 0:0:0", "-1/1/1 0:0:0", "2023/1/1 0:0:0 0",
    ])
    func otherTextsAreNotReservationTimes(text: String) {
        #expect(ReservationTime.parse(text, zone: "Asia/Seoul") == nil)
    }

    @Test func imagesAreSentUnchanged() {
        let bytes = [UInt8](repeating: 0xFB, count: 300)
        let text = Base64Image.encode(bytes)
        #expect(!text.contains { $0 == "\n" || $0 == "\r" })
        #expect(Base64Image.decode(text) == bytes)
        #expect(Base64Image.decode("") == nil)
        #expect(Base64Image.decode("a") == nil)
    }

    /// docs/contracts/rationalowl.md#3: limits by API; the router passes every method to the adapter, because every
    /// call accepts POST only.
    @Test func routesCarryTheirLimits() {
        for route in RationalOwlAdapter().routes {
            guard case .exact(let path) = route.path else { continue }
            #expect(route.method == nil)
            #expect(route.bodyLimitBytes == (path.hasPrefix("/msgClient") ? 10_485_760 : 65_536))
        }
        #expect(Mount.route(for: "/pushApp/nothing")?.name == "pushApp.unknown")
        #expect(Mount.route(for: "/elsewhere") == nil)
    }
}
