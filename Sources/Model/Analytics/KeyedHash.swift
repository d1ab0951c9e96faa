/// SipHash-2-4 (Aumasson, Bernstein 2012): a hash that only the holder of the key can compute, for sketches of distinct values.
package struct KeyedHash: Sendable {
    /// 128 bits.
    package static let keyBytes = 16

    private let first: UInt64
    private let second: UInt64

    /// Returns nil unless the key has `keyBytes`.
    package init?(key: [UInt8]) {
        guard key.count == Self.keyBytes else { return nil }
        first = Self.word(key[0..<8])
        second = Self.word(key[8..<16])
    }

    /// The hash of a value.
    package func callAsFunction(_ bytes: [UInt8]) -> UInt64 {
        var state = State(first, second)
        let whole = bytes.count / 8 * 8
        for start in stride(from: 0, to: whole, by: 8) { state.absorb(Self.word(bytes[start..<(start + 8)])) }
        state.absorb(Self.word(bytes[whole...]) | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    /// Up to 8 bytes, the least significant first.
    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ first: UInt64, _ second: UInt64) {
            // "somepseudorandomlygeneratedbytes"
            v0 = first ^ 0x736F_6D65_7073_6575
            v1 = second ^ 0x646F_7261_6E64_6F6D
            v2 = first ^ 0x6C79_6765_6E65_7261
            v3 = second ^ 0x7465_6462_7974_6573
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v2 &+= v3
            v1 = rotated(v1, 13) ^ v0
            v3 = rotated(v3, 16) ^ v2
            v0 = rotated(v0, 32)
            v2 &+= v1
            v0 &+= v3
            v1 = rotated(v1, 17) ^ v2
            v3 = rotated(v3, 21) ^ v0
            v2 = rotated(v2, 32)
        }

        private func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
    }
}
