import Model

/// Counts the values that a body can have, without reading it: each but the first one follows one of few marks.
///
/// The marks are the comma and the beginning of a list or an object, also where a form or a text contains JSON, the separator of the fields of a form, and the
/// beginning of an element of XML. Those in texts count too.
package enum BodyValues {
    /// 256 values need no room. They take about 12 KiB of memory, 50 KiB at most, and nearly every body has fewer.
    package static let freeCount = 256
    /// 1,000,000 values of all calls of the node, half of them of one address: as many as four of the largest bodies have. A value of a list of digits takes
    /// about 50 bytes of memory, a member of an object with many members up to 200, so that they take 50 to 200 MB.
    package static let capacity = 4 * JSONParser.valueLimit

    /// A value takes at least two bytes, so that a shorter body has at most `freeCount` values.
    private static let freeBytes = 2 * freeCount

    /// Whether a call may have more than `freeCount` values. One comparison for nearly every call.
    static func mayBeMany(_ body: [UInt8], query: String?) -> Bool {
        body.count > freeBytes || query.map { $0.utf8.count > freeBytes } ?? false
    }

    /// The number of values that a call has at most; at most `JSONParser.valueLimit`, where the parser stops.
    static func count(_ body: [UInt8], query: String? = nil) -> Int {
        let inBody = marked(body)
        guard let query, query.utf8.count > freeBytes else { return inBody }
        return min(inBody + marked(Array(query.utf8)), JSONParser.valueLimit)
    }

    private static func marked(_ bytes: [UInt8]) -> Int {
        // Most long bodies have few marks. This loop has no branches, so that it is faster than the exact one.
        var possible = 1
        for byte in bytes { possible &+= Int(possibleMarks(byte)) }
        guard possible > freeCount else { return possible }
        var count = 1
        var index = 0
        while index < bytes.count, count < JSONParser.valueLimit {
            if isMark(at: index, in: bytes) { count += 1 }
            index += 1
        }
        return count
    }

    /// 1 for a mark, and for a byte with which an encoded one begins.
    @inline(__always)
    private static func possibleMarks(_ byte: UInt8) -> UInt8 {
        var found = one(byte == UInt8(ascii: ","))
        found |= one(byte == UInt8(ascii: "["))
        found |= one(byte == UInt8(ascii: "{"))
        found |= one(byte == UInt8(ascii: "&"))
        found |= one(byte == UInt8(ascii: "<"))
        found |= one(byte == UInt8(ascii: "%"))
        found |= one(byte == UInt8(ascii: "\\"))
        return found
    }

    @inline(__always)
    private static func one(_ isSo: Bool) -> UInt8 { isSo ? 1 : 0 }

    private static func isMark(at index: Int, in bytes: [UInt8]) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "%"): isEncodedMark(after: index, in: bytes)
        case UInt8(ascii: "\\"): isEscapedMark(after: index, in: bytes)
        case let byte: possibleMarks(byte) == 1
        }
    }

    /// JSON in a form: `%2C`, `%5B` or `%7B`.
    private static func isEncodedMark(after index: Int, in bytes: [UInt8]) -> Bool {
        guard index + 2 < bytes.count else { return false }
        let (high, low) = (bytes[index + 1], bytes[index + 2] | 0x20)
        if high == UInt8(ascii: "2") { return low == UInt8(ascii: "c") }
        return (high == UInt8(ascii: "5") || high == UInt8(ascii: "7")) && low == UInt8(ascii: "b")
    }

    /// JSON in a JSON text may write each mark as `\u00` and two digits. Letters of other alphabets than Latin are not written so.
    private static func isEscapedMark(after index: Int, in bytes: [UInt8]) -> Bool {
        index + 3 < bytes.count && bytes[index + 1] == UInt8(ascii: "u") && bytes[index + 2] == UInt8(ascii: "0")
            && bytes[index + 3] == UInt8(ascii: "0")
    }
}
