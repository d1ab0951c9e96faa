/// Eight bytes in one number, one per lane; a lane is marked by its highest bit.
///
/// Plain arithmetic: the standard library's vectors compare lane by lane where they are not specialised (measured: ten times as much). Marks
/// come with rubbish in the other bits, so that several may be joined before it is taken off.
@frozen
@usableFromInline
package struct ByteLanes {
    @usableFromInline let bits: UInt64

    @inlinable
    package init(_ bits: UInt64) { self.bits = bits }

    /// Marks bytes above 0x7F.
    @inlinable
    package var high: UInt64 { bits }

    /// Marks bytes below a limit of at most 0x80. Bytes above 0x7F are marked or not as it happens: ask for `high` too.
    @inlinable
    package func below(_ limit: UInt8) -> UInt64 { ~((bits & ~Self.marks) &+ UInt64(0x80 &- limit) &* Self.ones) }

    /// Marks one byte, below 0x80. Its neighbour 0x80 higher is marked too.
    @inlinable
    package func equal(_ byte: UInt8) -> UInt64 {
        ~(((bits ^ UInt64(byte) &* Self.ones) & ~Self.marks) &+ 0x7F &* Self.ones)
    }

    /// Marks a byte below a limit of at most 0x80, and after the first one marks others too: good for asking whether there is one.
    @inlinable
    package func anyBelow(_ limit: UInt8) -> UInt64 { (bits &- UInt64(limit) &* Self.ones) & ~bits }

    /// Marks a byte, below 0x80, and after the first one marks others too: good for asking whether there is one.
    @inlinable
    package func anyEqual(_ byte: UInt8) -> UInt64 { ((bits ^ UInt64(byte) &* Self.ones) &- Self.ones) & ~bits }

    /// The same with every letter in lower case, and some other bytes changed likewise.
    @inlinable
    package var lowercased: ByteLanes { ByteLanes(bits | 0x20 &* Self.ones) }

    /// Every lane.
    @inlinable
    package static var marks: UInt64 { 0x8080_8080_8080_8080 }

    @inlinable
    package static var ones: UInt64 { 0x0101_0101_0101_0101 }
}

/// Eight hex digits and what they stand for. The first digit is in the lowest lane, as text lies in memory.
extension ByteLanes {
    /// Marks what is no hex digit, of either case.
    @inlinable
    package var notHex: UInt64 {
        let letters = lowercased
        return high | below(0x30) | ~below(0x3A) & (letters.below(0x61) | ~letters.below(0x67))
    }

    /// What eight hex digits stand for, the first highest.
    @inlinable
    package var hexValue: UInt32 {
        // A letter's low half counts from 1, and bit 6 tells it from a digit.
        var nibbles = (bits & 0x0F0F_0F0F_0F0F_0F0F) &+ (bits &>> 6 & Self.ones) &* 9
        // Neighbours joined, then pairs, then fours.
        nibbles = (nibbles &<< 4 | nibbles &>> 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles &<< 8 | nibbles &>> 16) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: nibbles &<< 16 | nibbles &>> 32)
    }

    /// The eight lower-case digits of a number.
    @inlinable
    package static func hexDigits(_ value: UInt32) -> UInt64 {
        var nibbles = UInt64(value.byteSwapped)
        nibbles = (nibbles | nibbles &<< 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles &<< 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles &>> 4 | nibbles &<< 8) & 0x0F0F_0F0F_0F0F_0F0F
        // Above nine: one more than the distance from behind '9' to 'a'.
        let letters = (nibbles &+ 6 &* ones) &>> 4 & ones
        return nibbles &+ 0x30 &* ones &+ letters &* 0x27
    }
}
