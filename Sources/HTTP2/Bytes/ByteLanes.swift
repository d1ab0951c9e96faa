/// Eight bytes in one number, one per lane. The highest bit of a lane marks it.
///
/// This is plain arithmetic, because the vectors of the standard library compare lane by lane where they are not specialised (measured: ten times slower). The
/// other bits of a result are undefined, so that several results can be combined before the marks are masked out.
@frozen
@usableFromInline
package struct ByteLanes {
    @usableFromInline let bits: UInt64

    @inlinable
    package init(_ bits: UInt64) { self.bits = bits }

    /// Marks bytes above 0x7F.
    @inlinable
    package var high: UInt64 { bits }

    /// Marks bytes below a limit of at most 0x80. It may or may not mark bytes above 0x7F, so check `high` as well.
    @inlinable
    package func below(_ limit: UInt8) -> UInt64 { ~((bits & ~Self.marks) &+ UInt64(0x80 &- limit) &* Self.ones) }

    /// Marks the lanes that contain this byte, which must be below 0x80. The value 0x80 higher is marked as well.
    @inlinable
    package func equal(_ byte: UInt8) -> UInt64 {
        ~(((bits ^ UInt64(byte) &* Self.ones) & ~Self.marks) &+ 0x7F &* Self.ones)
    }

    /// Marks bytes below a limit of at most 0x80. Lanes after the first marked one may be marked wrongly, so use it only to find whether any such byte exists.
    @inlinable
    package func anyBelow(_ limit: UInt8) -> UInt64 { (bits &- UInt64(limit) &* Self.ones) & ~bits }

    /// Marks bytes equal to one below 0x80. Lanes after the first marked one may be marked wrongly, so use it only to find whether any such byte exists.
    @inlinable
    package func anyEqual(_ byte: UInt8) -> UInt64 { ((bits ^ UInt64(byte) &* Self.ones) &- Self.ones) & ~bits }

    /// The same bytes with each letter in lower case. Some bytes that are not letters change as well.
    @inlinable
    package var lowercased: ByteLanes { ByteLanes(bits | 0x20 &* Self.ones) }

    /// The mark bits of all lanes.
    @inlinable
    package static var marks: UInt64 { 0x8080_8080_8080_8080 }

    @inlinable
    package static var ones: UInt64 { 0x0101_0101_0101_0101 }
}

/// Conversion of eight hexadecimal digits. The first digit is in the lowest lane, in the order of the text in memory.
extension ByteLanes {
    /// Marks bytes that are not hexadecimal digits, in upper or lower case.
    @inlinable
    package var notHex: UInt64 {
        let letters = lowercased
        return high | below(0x30) | ~below(0x3A) & (letters.below(0x61) | ~letters.below(0x67))
    }

    /// The number that eight hexadecimal digits represent; the first digit is the most significant.
    @inlinable
    package var hexValue: UInt32 {
        // A letter's low half counts from 1; bit 6 distinguishes it from a digit.
        var nibbles = (bits & 0x0F0F_0F0F_0F0F_0F0F) &+ (bits &>> 6 & Self.ones) &* 9
        // Join adjacent digits, then pairs, then groups of four.
        nibbles = (nibbles &<< 4 | nibbles &>> 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles &<< 8 | nibbles &>> 16) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: nibbles &<< 16 | nibbles &>> 32)
    }

    /// The eight lower-case hexadecimal digits of a number.
    @inlinable
    package static func hexDigits(_ value: UInt32) -> UInt64 {
        var nibbles = UInt64(value.byteSwapped)
        nibbles = (nibbles | nibbles &<< 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles &<< 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles &>> 4 | nibbles &<< 8) & 0x0F0F_0F0F_0F0F_0F0F
        // For digits above nine, add 0x27: the distance from the character after '9' to 'a'.
        let letters = (nibbles &+ 6 &* ones) &>> 4 & ones
        return nibbles &+ 0x30 &* ones &+ letters &* 0x27
    }
}
