package import FoundationEssentials

/// The source of new identifiers and secrets. Randomness is a parameter, so that tests are repeatable.
package protocol IdentifierSource: Sendable {
    /// A UUIDv7 at `time`, which is on the database's clock.
    func uuid(at time: Timestamp) -> UUID
    /// `byteCount` random bytes as lower-case hex, from the system's generator. They are used as capabilities.
    func randomHex(byteCount: Int) -> String
    /// A UUIDv5 of `name` in `space` (RFC 9562 §5.5): the same for the same input, on every node.
    func uuid(named name: [UInt8], in space: UUID) -> UUID
    /// SHA-256, lower-case hex.
    func sha256(_ bytes: [UInt8]) -> String
}

extension IdentifierSource {
    /// The `apns-id` of one delivery, the same on every attempt.
    package func transportID(message: MessageID, target: TargetID) -> UUID {
        uuid(named: target.rawValue.bytes, in: message.rawValue)
    }

    /// The target that stands for an address without a device.
    package func target(for address: Address, in message: MessageID) -> TargetID {
        TargetID(rawValue: uuid(named: Array(address.canonical.utf8), in: message.rawValue))
    }
}
