import Bytes
import HTTP2
import Model

/// Generates device tokens and ids. Each number always gives the same ones, and consecutive numbers give unrelated ones, like real ones.
///
/// It must be cheap, because its cost is counted as the client's.
enum Addressee {
    /// 64 hexadecimal digits, the length of an APNs token.
    typealias Token = InlineArray<64, UInt8>

    /// The token for a number.
    static func token(_ number: Int) -> Token {
        var state = UInt64(truncatingIfNeeded: number)
        var text = Token(repeating: 0)
        for word in 0..<4 {
            let bits = next(&state)
            spell(UInt32(truncatingIfNeeded: bits), at: word * 16, &text)
            spell(UInt32(truncatingIfNeeded: bits >> 32), at: word * 16 + 8, &text)
        }
        return text
    }

    /// The token for a number, as a string.
    static func tokenText(_ number: Int) -> String {
        var state = UInt64(truncatingIfNeeded: number)
        return unsafe String(unsafeUninitializedCapacity: 64) { buffer in
            let place = UnsafeMutableRawBufferPointer(buffer)
            for word in 0..<4 {
                let bits = next(&state)
                let halves =
                    [UInt32(truncatingIfNeeded: bits), UInt32(truncatingIfNeeded: bits >> 32)] as InlineArray<2, UInt32>
                for half in halves.indices {
                    unsafe place.storeBytes(
                        of: ByteLanes.hexDigits(halves[half]),
                        toByteOffset: word * 16 + half * 8,
                        as: UInt64.self
                    )
                }
            }
            return 64
        }
    }

    /// A token as a string.
    static func text(_ token: Token) -> String {
        unsafe token.span.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The apns-id for a number.
    static func id(_ number: Int) -> PushID {
        var state = ~UInt64(truncatingIfNeeded: number)
        return PushID(high: next(&state), low: next(&state))
    }

    /// The apns-id for a number, as its 36 characters.
    static func idText(_ number: Int) -> InlineArray<36, UInt8> {
        var state = ~UInt64(truncatingIfNeeded: number)
        let words = [next(&state), next(&state)]
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        var place = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 { place += 1 }
            text[place] = digits[Int(truncatingIfNeeded: words[digit / 16] >> UInt64(digit % 16 * 4) & 15)]
            place += 1
        }
        return text
    }

    private static let digits: InlineArray<16, UInt8> = [
        0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66,
    ]

    private static func spell(_ value: UInt32, at place: Int, _ text: inout Token) {
        let word = ByteLanes.hexDigits(value)
        for index in 0..<8 { text[place + index] = UInt8(truncatingIfNeeded: word >> UInt64(index * 8)) }
    }

    /// The next number of SplitMix64.
    private static func next(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
