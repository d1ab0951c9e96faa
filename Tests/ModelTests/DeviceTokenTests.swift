import Model
import Testing

/// Tokens: hex of a bounded length for APNs, and never shown completely.
struct DeviceTokenTests {
    @Test func apnsTokensAreLowerCaseHex() {
        #expect(DeviceToken(apns: "ABCDEF01")?.text == "abcdef01")
        #expect(DeviceToken(apns: String(repeating: "a", count: 400)) != nil)
    }

    @Test(arguments: ["", "abc", "zz", "ab cd", "ａｂ", String(repeating: "a", count: 402)])
    func otherTextsAreNotAPNsTokens(text: String) {
        #expect(DeviceToken(apns: text) == nil)
    }

    @Test func fcmTokensArePrintableWithoutSpaces() {
        #expect(DeviceToken(fcm: "dQw4:APA91b-_") != nil)
        for text in ["", "a b", "a\u{0}", "é", String(repeating: "a", count: 4097)] {
            #expect(DeviceToken(fcm: text) == nil)
        }
    }

    /// I7.
    @Test func aDescriptionShowsEightDigitsAtMost() {
        #expect(DeviceToken(stored: String(repeating: "ab", count: 32)).description == "abab…abab")
        #expect(DeviceToken(stored: "abcdef").description == "…")
    }
}
