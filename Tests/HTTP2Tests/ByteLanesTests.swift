import HTTP2
import Testing

/// Eight bytes at a time gives what byte by byte gives, for every byte in every lane and for every length around eight.
struct ByteLanesTests {
    private func hasMarked(_ bytes: [UInt8], filler: UInt8, _ mark: (ByteLanes) -> UInt64) -> Bool {
        bytes.span.contains(filler: filler, where: mark)
    }

    @Test func everyByteIsJudgedInEveryPlace() {
        for count in [1, 2, 7, 8, 9, 15, 16, 17, 33] {
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    text[place] = byte
                    let scalar = Unicode.Scalar(byte)
                    let isHex = byte < 0x80 && Character(scalar).isHexDigit
                    #expect(hasMarked(text, filler: UInt8(ascii: "0"), { $0.notHex }) == !isHex)
                    #expect(hasMarked(text, filler: UInt8(ascii: "x"), { $0.high }) == (byte > 0x7F))
                    let isControl = hasMarked(text, filler: UInt8(ascii: "x")) { $0.below(0x20) & ~$0.high }
                    #expect(isControl == (byte < 0x20))
                    let isQuote = hasMarked(text, filler: UInt8(ascii: "x")) { $0.equal(0x22) & ~$0.high }
                    #expect(isQuote == (byte == 0x22))
                }
            }
        }
    }

    @Test func nothingIsMarkedInNothing() { #expect(!hasMarked([], filler: 0x20) { $0.below(0x20) }) }

    @Test(arguments: [0, 1, 0x0123_4567, 0x89AB_CDEF, 0xDEAD_BEEF, UInt32.max])
    func hexDigitsAreReadAsTheyAreWritten(value: UInt32) {
        let text = "0000000" + String(value, radix: 16)
        let bytes = Array(text.utf8.suffix(8))
        let word = bytes.span.word(at: 0)
        #expect(ByteLanes.hexDigits(value) == word)
        #expect(ByteLanes(word).hexValue == value)
        let upper = Array(text.uppercased().utf8.suffix(8))
        let upperWord = upper.span.word(at: 0)
        #expect(ByteLanes(upperWord).hexValue == value)
    }

    @Test func whatDoesNotFitFillsToTheBrimAndIsTold() {
        var isWhole = true
        let bytes = [UInt8](capacity: 5) { out in
            isWhole = out.append(copying: "abc") && isWhole
            isWhole = out.append(copying: [1, 2, 3].span) && isWhole
            // No room for eight: nothing.
            out.append(word: 0)
        }
        #expect(!isWhole)
        #expect(bytes == Array("abc".utf8) + [1, 2])
    }
}
