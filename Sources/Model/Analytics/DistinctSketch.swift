// Foundation for `log`.
import Foundation

/// The approximate number of distinct values, as HyperLogLog (Flajolet et al. 2007) with 4,096 registers: a standard error of 1.6 %. Exact up to 256 values.
///
/// A sketch contains keyed hashes (`KeyedHash`) and no values, so only the holder of the key can test whether it contains a value. Adding a value twice changes
/// nothing, and sketches with the same key can be merged in any order.
package struct DistinctSketch: Sendable, Hashable {
    /// Up to this many values are kept one by one.
    package static let exactLimit = 256
    package static let registerCount = 1 << indexBits

    /// The first 12 bits of a hash are the register.
    private static let indexBits = 12
    /// 52 bits are left, so the place of the first 1 among them is 1 to 53.
    private static let highestRank: UInt8 = 53

    private enum Content: Sendable, Hashable {
        /// Ascending, each once.
        case exact([UInt64])
        /// The highest rank of each register; 0: none.
        case registers([UInt8])
    }

    private var content = Content.exact([])

    package init() {}

    package var isEmpty: Bool { content == .exact([]) }

    /// Adds a value by its hash.
    package mutating func add(_ hash: UInt64) {
        switch content {
        case .exact(var hashes):
            // Frees the stored array, so that the insertion does not copy it.
            content = .exact([])
            let place = Self.place(of: hash, in: hashes)
            if place == hashes.endIndex || hashes[place] != hash { hashes.insert(hash, at: place) }
            content = hashes.count <= Self.exactLimit ? .exact(hashes) : .registers(Self.registers(of: hashes))
        case .registers(var registers):
            content = .exact([])
            Self.note(hash, in: &registers)
            content = .registers(registers)
        }
    }

    /// Adds the values of another sketch.
    package mutating func merge(_ other: DistinctSketch) {
        switch (content, other.content) {
        case (_, .exact(let hashes)): for hash in hashes { add(hash) }
        case (.exact(let hashes), .registers(var registers)):
            for hash in hashes { Self.note(hash, in: &registers) }
            content = .registers(registers)
        case (.registers(let first), .registers(let second)): content = .registers(zip(first, second).map(max))
        }
    }

    /// The number of distinct values.
    package var estimate: Int64 {
        switch content {
        case .exact(let hashes): Int64(hashes.count)
        case .registers(let registers): Self.estimate(registers)
        }
    }

    private static func place(of hash: UInt64, in hashes: [UInt64]) -> Int {
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func registers(of hashes: [UInt64]) -> [UInt8] {
        var registers = [UInt8](repeating: 0, count: registerCount)
        for hash in hashes { note(hash, in: &registers) }
        return registers
    }

    private static func note(_ hash: UInt64, in registers: inout [UInt8]) {
        let index = Int(hash >> UInt64(64 - indexBits))
        // A 1 behind the last bit ends the count for 52 zeros.
        let rest = hash << UInt64(indexBits) | 1 << UInt64(indexBits - 1)
        registers[index] = max(registers[index], UInt8(rest.leadingZeroBitCount + 1))
    }

    /// The estimator of Ertl 2017 ("New cardinality estimation algorithms for HyperLogLog sketches", algorithm 6), which needs no corrections for small and
    /// large numbers.
    private static func estimate(_ registers: [UInt8]) -> Int64 {
        var counts = [Double](repeating: 0, count: Int(highestRank) + 1)
        for rank in registers { counts[Int(rank)] += 1 }
        let size = Double(registerCount)
        var sum = size * tau(1 - counts[Int(highestRank)] / size)
        for rank in stride(from: Int(highestRank) - 1, through: 1, by: -1) { sum = 0.5 * (sum + counts[rank]) }
        sum += size * sigma(counts[0] / size)
        let estimate = size * size / (2 * log(2) * sum)
        // All registers at the highest rank: more values than there are hashes.
        guard estimate < Double(Int64.max) else { return .max }
        return Int64(estimate.rounded())
    }

    private static func sigma(_ value: Double) -> Double {
        guard value < 1 else { return .infinity }
        var (power, factor, sum) = (value, 1.0, value)
        while true {
            power *= power
            let next = sum + power * factor
            if next == sum { return sum }
            sum = next
            factor += factor
        }
    }

    private static func tau(_ value: Double) -> Double {
        guard value > 0, value < 1 else { return 0 }
        var (root, factor, sum) = (value, 1.0, 1 - value)
        while true {
            root = root.squareRoot()
            factor *= 0.5
            let next = sum - (1 - root) * (1 - root) * factor
            if next == sum { return sum / 3 }
            sum = next
        }
    }
}

// MARK: Bytes

extension DistinctSketch {
    /// The first byte: the hashes follow, ascending, 8 bytes each, the most significant first.
    private static let exactForm: UInt8 = 1
    /// The first byte: the registers follow, a byte each.
    private static let registerForm: UInt8 = 2

    /// At most 4,097 bytes.
    package var encoded: [UInt8] {
        switch content {
        case .exact(let hashes):
            var out = [Self.exactForm]
            out.reserveCapacity(1 + 8 * hashes.count)
            for hash in hashes {
                for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
                    out.append(UInt8(truncatingIfNeeded: hash >> shift))
                }
            }
            return out
        case .registers(let registers): return [Self.registerForm] + registers
        }
    }

    /// Returns nil for bytes that `encoded` does not make.
    package init?(encoded bytes: [UInt8]) {
        let rest = bytes.dropFirst()
        switch bytes.first {
        case Self.exactForm:
            guard rest.count.isMultiple(of: 8), rest.count <= 8 * Self.exactLimit else { return nil }
            var hashes: [UInt64] = []
            for start in stride(from: rest.startIndex, to: rest.endIndex, by: 8) {
                let hash = rest[start..<(start + 8)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                if let last = hashes.last, last >= hash { return nil }
                hashes.append(hash)
            }
            content = .exact(hashes)
        case Self.registerForm:
            guard rest.count == Self.registerCount, rest.allSatisfy({ $0 <= Self.highestRank }),
                rest.contains(where: { $0 > 0 })
            else { return nil }
            content = .registers(Array(rest))
        default: return nil
        }
    }
}
