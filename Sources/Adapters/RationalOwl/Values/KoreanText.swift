/// The size of a text in CP949, the Korean code page in which the vendor's editor and the text-message operators count.
package enum KoreanText {
    /// One byte for ASCII, two for everything else.
    ///
    /// Hangul, Hanja and signs of CP949 take exactly two. What CP949 does not have (emoji) is counted as two as well: the vendor's own count for it is
    /// unknown, and two is what a replacement sign takes.
    package static func byteCount(_ text: String) -> Int {
        text.unicodeScalars.reduce(into: 0) { count, scalar in count += scalar.isASCII ? 1 : 2 }
    }
}
