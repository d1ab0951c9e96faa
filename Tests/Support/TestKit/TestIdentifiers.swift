package import FoundationEssentials
package import Model
import NIOConcurrencyHelpers

/// Identifiers that repeat from run to run: the same seed gives the same sequence.
///
/// Hashes have the correct form and distinguish inputs, but are not the real ones. So tests that use them do not have to build a
/// cryptography library, twice more for the sanitizers.
package final class TestIdentifiers: IdentifierSource {
    private let generator: NIOLockedValueBox<SplitMix>

    package init(seed: UInt64 = 1) { generator = NIOLockedValueBox(SplitMix(state: seed)) }

    package func uuid(at time: Timestamp) -> UUID {
        generator.withLockedValue { UUID.v7(at: time, using: &$0) }
    }

    package func randomHex(byteCount: Int) -> String {
        let bytes = generator.withLockedValue { generator in
            (0..<max(0, byteCount)).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
        }
        return HexCoding.encode(bytes)
    }

    package func uuid(named name: [UInt8], in space: UUID) -> UUID {
        var bytes = Array(Self.digest(space.bytes + name).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(bytes: bytes) ?? space
    }

    package func sha256(_ bytes: [UInt8]) -> String { HexCoding.encode(Self.digest(bytes)) }

    /// 32 bytes of `bytes`: FNV-1a as the seed of a SplitMix64.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        let seed = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        var generator = SplitMix(state: seed)
        return (0..<4).flatMap { _ in
            let word = generator.next()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
    }
}
