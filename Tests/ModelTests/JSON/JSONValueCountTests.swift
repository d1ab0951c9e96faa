import Model
import Testing

/// `hasTooManyValues` agrees with the parser about the texts that it refuses for their number of values.
struct JSONValueCountTests {
    private func isOverLimit(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let isRefused: Bool
        do {
            _ = try JSONParser.parse(bytes)
            isRefused = false
        } catch { isRefused = error.description.contains("\(JSONParser.valueLimit) values") }
        let isFound = JSONParser.hasTooManyValues(bytes)
        #expect(isFound == isRefused, "\(text.prefix(40))")
        return isFound
    }

    // The list itself is a value.
    @Test(arguments: ["1", "12.5e3", "true", #""a\",[b""#, "{}", "[]", #""""#, " null ", #"{"k":"v\\"}"#])
    func theLimitIsExact(_ value: String) {
        // Values of one element: an object with one member has two.
        let each = value.contains("k") ? 2 : 1
        let most = (JSONParser.valueLimit - 1) / each
        func list(_ count: Int) -> String {
            "[" + Array(repeating: value.count < 3 ? value + " " : value, count: count).joined(separator: ",") + "]"
        }
        #expect(!isOverLimit(list(most)))
        #expect(isOverLimit(list(most + 1)))
    }

    @Test func otherTextsHaveNotTooMany() {
        for text in ["", "[1,2", "{", #""\"#, String(repeating: "a", count: 600_000)] {
            #expect(!JSONParser.hasTooManyValues(Array(text.utf8)))
        }
        #expect(!JSONParser.hasTooManyValues(Array(#"{"x":""#.utf8) + [UInt8](repeating: 0x2C, count: 600_000)))
    }
}
