import Crypto
package import Model

/// The share of users or devices that a rule takes. A higher percentage with the same salt only adds members, and the same salt selects the same ones in every rule,
/// on every node, in SQL and in a shell.
package struct Rollout: Sendable, Hashable {
    /// The source of the rollout key.
    package enum Unit: String, Sendable, Hashable, CaseIterable {
        /// The user; the device's key for a device without a user.
        case user
        /// The vendor's key of the device.
        case device
    }

    /// Hundredths of a per cent, 0...10,000.
    package let hundredths: Int
    package let unit: Unit
    package let salt: String

    /// Nil for a percentage outside of its range.
    package init?(hundredths: Int, by unit: Unit, salt: String) {
        guard (0...10_000).contains(hundredths) else { return nil }
        self.hundredths = hundredths
        self.unit = unit
        self.salt = salt
    }

    /// The percentage as a file spells it: `10`, `0.25`.
    package var percent: String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// The first four bytes of SHA-256(salt, 00, key) as a number: those that `printf 'spring\0user-1' | sha256sum` prints.
    package static func bucket(of key: String, salt: String) -> UInt32 {
        var hash = SHA256()
        hash.update(data: Array(salt.utf8))
        hash.update(data: [0])
        hash.update(data: Array(key.utf8))
        return hash.finalize().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The rollout key of a target; nil: neither user nor device is known.
    package func key(of facts: RolloutFacts) -> String? {
        switch unit {
        case .user: facts.user ?? facts.device
        case .device: facts.device
        }
    }

    /// The buckets below this number are inside.
    private var end: UInt64 { (UInt64(hundredths) << 32) / 10_000 }

    /// Whether the keys of a bucket are inside.
    package func includes(bucket: UInt32) -> Bool { UInt64(bucket) < end }

    /// Whether a key is inside.
    package func includes(_ key: String) -> Bool { includes(bucket: Self.bucket(of: key, salt: salt)) }

    /// Whether a target is inside; nil: its key is not known.
    package func includes(_ facts: RolloutFacts) -> Bool? { key(of: facts).map { includes($0) } }
}
