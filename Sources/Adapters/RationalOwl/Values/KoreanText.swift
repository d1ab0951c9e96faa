/// The size of a text in CP949, the Korean code page in which the vendor's editor and the text message operators count.
package enum KoreanText {
    /// One byte for ASCII, two for all other characters.
    ///
    /// Hangul, Hanja and symbols of CP949 take exactly two bytes. Characters outside CP949 (emoji) count as two as well: the vendor's own count for
    /// them is unknown, and a replacement character takes two.
    package static func byteCount(_ text: String) -> Int {
        text.unicodeScalars.reduce(into: 0) { count, scalar in count += scalar.isASCII ? 1 : 2 }
    }
}
