import Crypto
package import FoundationEssentials
import HTTP2
package import Model

/// Creates identifiers with the system's random number generator and digests with swift-crypto.
package struct SystemIdentifiers: IdentifierSource {
    package init() {}

    package func uuid(at time: Timestamp) -> UUID {
        var generator = BlockRandom()
        return UUID.v7(at: time, using: &generator)
    }

    package func randomHex(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return HexCoding.encode((0..<max(0, byteCount)).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    package func uuid(named name: [UInt8], in space: UUID) -> UUID {
        var hash = Insecure.SHA1()
        hash.update(data: space.bytes)
        hash.update(data: name)
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(bytes: bytes) ?? space
    }

    package func sha256(_ bytes: [UInt8]) -> String { HexCoding.encode(SHA256.hash(data: bytes)) }
}
