import Bytes
import Testing

/// Processing eight bytes at a time gives the same result as byte by byte, for every byte in every position and for
/// every length around eight.
struct ByteLanesTests {
    private func hasMarked(_ bytes: [UInt8], filler: UInt8, _ mark: (ByteLanes) -> UInt64) -> Bool {
        bytes.span.contains(filler: filler, where: mark)
    }

    @Test func everyByteIsClassifiedInEveryPosition() {
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

    @Test func emptyInputHasNoMarks() { #expect(!hasMarked([], filler: 0x20) { $0.below(0x20) }) }

    @Test(arguments: [0, 1, 0x0123_4567, 0x89AB_CDEF, 0xDEAD_BEEF, UInt32.max])
    func hexDigitsAreReadAsWritten(value: UInt32) {
        let text = "0000000" + String(value, radix: 16)
        let bytes = Array(text.utf8.suffix(8))
        let word = bytes.span.word(at: 0)
        #expect(ByteLanes.hexDigits(value) == word)
        #expect(ByteLanes(word).hexValue == value)
        let upper = Array(text.uppercased().utf8.suffix(8))
        let upperWord = upper.span.word(at: 0)
        #expect(ByteLanes(upperWord).hexValue == value)
    }

    @Test func oversizedTextFillsTheBufferAndIsReported() {
        var isWhole = true
        let bytes = [UInt8](capacity: 5) { out in
            isWhole = out.append(copying: "abc") && isWhole
            isWhole = out.append(copying: [1, 2, 3].span) && isWhole
            // If the output has too little space, nothing is written.
            out.append(words: [0, 0, 0, 0, 0], count: 36)
        }
        #expect(!isWhole)
        #expect(bytes == Array("abc".utf8) + [1, 2])
    }
}

/// The byte operations that the payload encoder uses.
struct ByteSpansTests {
    // Every byte at every position of a word, next to every byte from which it could borrow a bit.
    @Test func oneByteIsFoundNextToAnyOther() {
        var wrong: [[UInt8]] = []
        for neighbour in [0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0xA2, 0xDC, 0xFF] as [UInt8]
        {
            for byte in UInt8.min...UInt8.max {
                for place in 0..<8 {
                    var bytes = [UInt8](repeating: neighbour, count: 8)
                    bytes[place] = byte
                    let lanes = ByteLanes(bytes.span.word(at: 0))
                    let isRight =
                        (lanes.anyBelow(0x20) & ByteLanes.marks != 0) == bytes.contains { $0 < 0x20 }
                        && (lanes.anyEqual(0x22) & ByteLanes.marks != 0) == bytes.contains(0x22)
                        && (lanes.anyEqual(0x5C) & ByteLanes.marks != 0) == bytes.contains(0x5C)
                    if !isRight { wrong.append(bytes) }
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func threePiecesAreOneTextAndFillTheBuffer() {
        let text = Array("bc".utf8)
        for capacity in 0...6 {
            var isWhole = false
            let bytes = [UInt8](capacity: capacity) { isWhole = $0.append("a", copying: text.span, "de") }
            #expect(bytes == Array("abcde".utf8.prefix(capacity)))
            #expect(isWhole == (capacity >= 5))
        }
        let empty: [UInt8] = []
        #expect([UInt8](capacity: 2) { $0.append("a", copying: empty.span, "b") } == Array("ab".utf8))
    }

    @Test func wordsAreTheirLowBytesFirst() {
        let words: InlineArray<5, UInt64> = [0x0807_0605_0403_0201, 0, 0, 0, 0x0D0C_0B0A]
        let bytes = [UInt8](capacity: 36) { $0.append(words: words, count: 36) }
        #expect(Array(bytes.prefix(8)) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(Array(bytes.suffix(4)) == [10, 11, 12, 13])
        #expect([UInt8](capacity: 64) { $0.append(words: words, count: 41) }.isEmpty)
    }
}
