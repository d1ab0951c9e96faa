import Crypto
import CryptoExtras
import Foundation
package import Model

/// The cost of a password hash (scrypt, RFC 7914).
package struct PasswordCost: Sendable, Hashable {
    /// log2 of N.
    package var rounds: Int
    package var blockSize: Int
    package var parallelism: Int

    /// 32 MiB and about a tenth of a second per hash.
    package static let standard = PasswordCost(rounds: 15, blockSize: 8, parallelism: 3)

    package init(rounds: Int, blockSize: Int, parallelism: Int) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Costs of a stored hash that this program computes: a row cannot make it take all memory.
    var isAcceptable: Bool {
        (1...20).contains(rounds) && (1...16).contains(blockSize) && (1...16).contains(parallelism)
    }
}

/// A stored password: `scrypt$15$8$3$SALT$HASH`, with the costs, the salt and the hash as hexadecimal digits.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible {
    package var cost: PasswordCost
    var salt: [UInt8]
    var hash: [UInt8]

    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let name = "scrypt"

    /// Hashes a password.
    ///
    /// - Throws: when the library refuses the costs.
    package init(of password: String, cost: PasswordCost, identifiers: any IdentifierSource) throws {
        self.cost = cost
        salt = HexCoding.decode(identifiers.randomHex(byteCount: Self.saltBytes)) ?? []
        let key = try Self.derive(password, salt, cost)
        hash = Array(HMAC<SHA256>.authenticationCode(for: Self.label, using: key))
    }

    /// Reads a stored password; nil: it is malformed, or its costs are not acceptable.
    package init?(stored text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == Self.name, let rounds = Int(parts[1]), let size = Int(parts[2]),
            let parallelism = Int(parts[3]), let salt = HexCoding.decode(String(parts[4])),
            let hash = HexCoding.decode(String(parts[5])), hash.count == Self.hashBytes
        else { return nil }
        cost = PasswordCost(rounds: rounds, blockSize: size, parallelism: parallelism)
        guard cost.isAcceptable else { return nil }
        self.salt = salt
        self.hash = hash
    }

    /// Whether the hash is that of a password. Takes the time of a hash, whatever the password is.
    package func matches(_ password: String) -> Bool {
        guard let key = try? Self.derive(password, salt, cost) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(hash, authenticating: Self.label, using: key)
    }

    /// A code made with the derived key is stored, because the library gives out no bytes of keys.
    private static let label = Array("push-gateway password".utf8)

    private static func derive(_ password: String, _ salt: [UInt8], _ cost: PasswordCost) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Array(password.utf8),
            salt: salt,
            outputByteCount: hashBytes,
            rounds: 1 << cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        )
    }

    package var description: String {
        "\(Self.name)$\(cost.rounds)$\(cost.blockSize)$\(cost.parallelism)$\(HexCoding.encode(salt))$\(HexCoding.encode(hash))"
    }
}
