/// Base64 with the URL alphabet and without padding (RFC 4648 §5), the only form that JSON Web Signatures allow.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                out.append(alphabet[Int(pending >> bitCount & 63)])
            }
        }
        if bitCount > 0 { out.append(alphabet[Int(pending << (6 - bitCount) & 63)]) }
        return String(decoding: out, as: UTF8.self)
    }
}
