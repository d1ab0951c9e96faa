import Model
import Testing

/// The search for a byte in texts that are stored in a word and in an allocation.
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
}
