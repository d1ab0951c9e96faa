import Model
import Testing

/// The search for a byte in texts that are stored in a word and in an allocation, and the shortening of texts to one line.
struct StringBytesTests {
    @Test(arguments: [0, 1, 7, 14, 15, 16, 100]) func aByteIsFoundAtEveryPlace(length: Int) {
        let text = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
        #expect(!text.hasByte(0))
        for place in 0...text.unicodeScalars.count {
            var scalars = Array(text.unicodeScalars)
            scalars.insert("\0", at: place)
            #expect(String(String.UnicodeScalarView(scalars)).hasByte(0), "at \(place) of \(length)")
        }
        #expect((text + "a:b").hasByte(UInt8(ascii: ":")) && !(text + "ab").hasByte(UInt8(ascii: ":")))
    }

    @Test func aLineHasNoControlCharactersAndNoMarksOfDirection() {
        #expect("a\tb\r\nc\u{2028}d".oneLine() == "a b  c d")
        #expect("\u{0}\u{1B}[2J\u{7F}\u{9B}".oneLine() == "\u{FFFD}\u{FFFD}[2J\u{FFFD}\u{FFFD}")
        #expect("\u{202E}gnp.\u{2066}exe\u{2069}".oneLine() == "gnp.exe")
        #expect("한국어 é 🙂".oneLine() == "한국어 é 🙂")
    }

    @Test func aLineEndsAtItsLimit() {
        #expect("abc".oneLine(3) == "abc" && "abcd".oneLine(3) == "abc…" && "".oneLine(0).isEmpty)
        // A mark that is left out is not one of the characters.
        #expect("\u{202E}abc".oneLine(3) == "abc")
        // One character of a foreign text may have any number of marks.
        #expect(("a" + String(repeating: "\u{301}", count: 1000)).oneLine(3) == "a\u{301}\u{301}…")
    }
}
