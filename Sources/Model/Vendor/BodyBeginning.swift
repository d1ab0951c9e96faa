/// The beginning of a body of which more is to come, completed so that its whole fields can be read.
package enum BodyBeginning {
    /// Cuts a JSON object after its last whole member, and a form after its last whole pair.
    ///
    /// A body that begins with `{` is JSON whatever its content type says, as the dialects read it.
    ///
    /// - Parameter bytes: the first bytes of the body.
    /// - Returns: an object or a form with the fields that are whole; nil if no field is.
    package static func completed(_ bytes: [UInt8]) -> [UInt8]? {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "{") {
            return endOfMembers(bytes).map { bytes[..<$0] + [UInt8(ascii: "}")] }
        }
        return bytes.lastIndex(of: UInt8(ascii: "&")).map { Array(bytes[..<$0]) }
    }

    /// The index of the last comma between two members of the object.
    private static func endOfMembers(_ bytes: [UInt8]) -> Int? {
        var depth = 0
        var isText = false
        var isEscaped = false
        var end: Int?
        for (index, byte) in bytes.enumerated() {
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 1: end = index
            default: break
            }
        }
        return end
    }
}
