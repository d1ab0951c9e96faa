/// Reads the elements of a piece of DER, one level at a time (ITU-T X.690). It accepts any bytes; reading stops at damaged ones.
///
/// Lengths may have up to three bytes, because the inputs are small. It supports BER's indefinite length and treats all following bytes as its content; the end
/// mark then appears as an empty element with tag 0.
struct DERReader {
    /// One element.
    struct Element {
        /// The identifier octet.
        let tag: UInt8
        /// The bytes inside the element.
        let content: ArraySlice<UInt8>

        /// Whether it contains elements itself.
        var isConstructed: Bool { tag & 0x20 != 0 }
    }

    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let utf8String: UInt8 = 0x0C
    static let printableString: UInt8 = 0x13
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next element, or nil at the end or at the first damaged byte.
    mutating func next() -> Element? {
        var bytes = rest
        // 0x1F: a tag of several octets, which no supported format uses.
        guard let tag = bytes.popFirst(), tag & 0x1F != 0x1F,
            let length = Self.length(&bytes, isConstructed: tag & 0x20 != 0), length <= bytes.count
        else { return nil }
        let content = bytes.prefix(length)
        rest = bytes.dropFirst(length)
        return Element(tag: tag, content: content)
    }

    private static func length(_ bytes: inout ArraySlice<UInt8>, isConstructed: Bool) -> Int? {
        guard let first = bytes.popFirst() else { return nil }
        if first < 0x80 { return Int(first) }
        if first == 0x80, isConstructed { return bytes.count }
        let count = Int(first & 0x7F)
        guard (1...3).contains(count), bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
