import Foundation

/// Judges whether a secret that a person chose is hard to guess.
///
/// Secrets are stored as one fast hash, so that whoever reads the database can try billions of candidates per second. A random secret withstands that, a chosen
/// word does not. The text alone does not reveal how it was made; this estimate refuses what is certainly weak.
package enum SecretStrength {
    /// 80 bits: 20 random hex digits, or 14 random letters and digits. 2^80 tries take a machine with 10^10 tries per second four million years.
    static let requiredBits = 80.0

    /// The reason why a secret is refused; nil when it is accepted.
    package static func fault(of secret: String) -> String? {
        guard estimatedBits(secret) < requiredBits else { return nil }
        return "the secret is too easy to guess: use a random one, for example of `openssl rand -hex 24`"
    }

    /// The number of characters that do not continue a run or a sequence (`aaa`, `123`, `cba`), times the bits that tell the characters in use apart.
    static func estimatedBits(_ secret: String) -> Double {
        let bytes = Array(secret.utf8)
        guard let first = bytes.first else { return 0 }
        var steps: Int?
        var previous = first
        var counted = 1
        for byte in bytes.dropFirst() {
            let step = Int(byte) - Int(previous)
            if !(abs(step) <= 1 && step == steps) { counted += 1 }
            steps = step
            previous = byte
        }
        return Double(counted) * log2(Double(Set(bytes).count))
    }
}
