package import FoundationEssentials

/// The identifier of a push, the same on every retry: a UUID, stored as two numbers.
///
/// The compiler treats `UUID` as opaque: a struct that contains one is laid out at run time, and each copy of it uses a witness table. A push and its
/// outcome are copied about a dozen times.
package struct PushID: Sendable, Hashable {
    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(_ uuid: UUID) {
        let u = uuid.uuid
        high = Self.join(u.0, u.1, u.2, u.3) << 32 | Self.join(u.4, u.5, u.6, u.7)
        low = Self.join(u.8, u.9, u.10, u.11) << 32 | Self.join(u.12, u.13, u.14, u.15)
    }

    package var uuid: UUID {
        func byte(_ word: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - place * 8)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
                byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
                byte(low, 6), byte(low, 7)
            )
        )
    }

    /// The canonical lower-case text.
    package var lowercased: String { uuid.lowercased }

    private static func join(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt64 {
        UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
    }
}
