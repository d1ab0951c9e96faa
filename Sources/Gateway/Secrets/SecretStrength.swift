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

    /// The number of characters that do not continue a run or a sequence (`aaa`, `123`, `cba`), times the bits that distinguish the characters in use. A common
    /// word counts as two characters, about 8 bits.
    static func estimatedBits(_ secret: String) -> Double {
        let bytes = Array(secret.utf8)
        guard !bytes.isEmpty else { return 0 }
        let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        var steps: Int?
        var previous: UInt8?
        var counted = 0
        var index = 0
        while index < bytes.count {
            if let word = words.first(where: { lower[index...].starts(with: $0) }) {
                counted += 2
                index += word.count
                (steps, previous) = (nil, nil)
                continue
            }
            let step = previous.map { Int(bytes[index]) - Int($0) }
            if !(step.map { abs($0) <= 1 } ?? false && step == steps) { counted += 1 }
            steps = step
            previous = bytes[index]
            index += 1
        }
        return Double(counted) * log2(Double(Set(bytes).count))
    }

    /// Words that people build keys and passwords from, the longest first. Four letters at least: shorter ones are found in random keys.
    private static let words: [[UInt8]] = """
        access account admin alert android apple application backend bank banking battery broadcast business change
        changeme client cloud company connect console correct customer database default demo deploy develop
        development device dragon example finance first gateway global hello horse house internal korea letmein live
        login main manager master message mobile money monkey network notification office open operator pass
        passphrase password payment phone platform private prod production project public push qwerty secret secure
        security send sender server service shop staging staple summer super support system team temp test testing
        token user welcome winter world
        """
        .split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }.sorted { $0.count > $1.count }
}
