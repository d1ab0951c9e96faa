import Crypto
package import Model

/// API keys consist of `pgw_` and 48 random hex digits. Only their SHA-256 is stored; a fast hash suffices because the secret is random, not chosen.
package enum APIKeys {
    /// 64 networks per key: the address of each call is compared with all of them.
    package static let networkLimit = 64

    package static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

    package static func make(_ identifiers: any IdentifierSource) -> String {
        "pgw_" + identifiers.randomHex(byteCount: 24)
    }
}
