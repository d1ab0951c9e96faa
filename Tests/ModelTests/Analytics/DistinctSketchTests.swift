import TestKit
import Testing

@testable import Model

@Suite struct DistinctSketchTests {
    private static let key: [UInt8] = Array(0..<16)

    private func hash() throws -> KeyedHash { try #require(KeyedHash(key: Self.key)) }

    private func sketch(_ values: some Sequence<Int>, _ name: String = "device") throws -> DistinctSketch {
        let hash = try hash()
        var sketch = DistinctSketch()
        for value in values { sketch.add(hash(Array("\(name) \(value)".utf8))) }
        return sketch
    }

    @Test(arguments: [(1000, "device"), (1000, "user"), (1000, "other"), (1_000_000, "device")])
    func estimatesAreWithinFivePercentInEveryOrder(_ count: Int, _ name: String) throws {
        let parts = try (0..<9).map { try sketch(stride(from: $0, to: count, by: 9), name) }
        let whole = Self.merged(parts)
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SplitMix(state: seed)
            let other = Self.merged(parts.shuffled(using: &random))
            #expect(other == whole)
        }
        let estimate = Double(whole.estimate)
        #expect(abs(estimate - Double(count)) <= 0.05 * Double(count), "\(estimate)")
        // Control: without one of the parts, it is another number.
        let most = Double(Self.merged(Array(parts.dropLast())).estimate)
        #expect(abs(most - Double(count)) > 0.05 * Double(count), "\(most)")
    }

    private static func merged(_ parts: [DistinctSketch]) -> DistinctSketch {
        var whole = DistinctSketch()
        for part in parts { whole.merge(part) }
        return whole
    }

    @Test(arguments: [0, 1, 2, 100, 255, 256])
    func fewValuesAreExact(_ count: Int) throws {
        let sketch = try sketch((0..<count).flatMap { [$0, $0] })
        #expect(sketch.estimate == Int64(count))
        #expect(sketch.isEmpty == (count == 0))
    }

    @Test(arguments: [257, 300, 2000, 5000, 20_000])
    func theChangeToRegistersHasNoStep(_ count: Int) throws {
        let estimate = Double(try sketch(0..<count).estimate)
        #expect(abs(estimate - Double(count)) <= 0.05 * Double(count), "\(estimate)")
    }

    @Test(arguments: [10, 100, 1000])
    func mergesGiveTheSameInEveryOrder(_ size: Int) throws {
        // Parts that overlap, of both forms.
        let parts = try (0..<9).map { try sketch(($0 * size)..<($0 * size + ($0 % 3 + 1) * size)) }
        let whole = try sketch(0..<(11 * size))
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SplitMix(state: seed)
            var merged = DistinctSketch()
            for part in parts.shuffled(using: &random) { merged.merge(part) }
            #expect(merged == whole)
        }
        var again = whole
        again.merge(whole)
        #expect(again == whole)
    }

    @Test(arguments: [0, 5, 256, 257, 10_000])
    func bytesKeepASketch(_ count: Int) throws {
        let sketch = try sketch(0..<count)
        #expect(DistinctSketch(encoded: sketch.encoded) == sketch)
        #expect(sketch.encoded.count <= 4097)
    }

    @Test func malformedBytesAreRefused() throws {
        let (few, many) = (try sketch(0..<20).encoded, try sketch(0..<500).encoded)
        for count in 0..<few.count where count % 8 != 1 {
            #expect(DistinctSketch(encoded: Array(few[..<count])) == nil)
        }
        for count in 0..<many.count { #expect(DistinctSketch(encoded: Array(many[..<count])) == nil) }
        var high = many
        high[9] = 54
        let unsorted = [few[0]] + few[9..<17] + few[1..<9]
        let twice = [few[0]] + few[1..<9] + few[1..<9]
        var long: [UInt8] = [1]
        for value in 0..<257 { long += [0, 0, 0, 0, 0, 0, UInt8(value / 256), UInt8(value % 256)] }
        let empty = [2] + [UInt8](repeating: 0, count: 4096)
        for bad in [high, unsorted, twice, long, empty, [3], [0], many + [0]] {
            #expect(DistinctSketch(encoded: bad) == nil)
        }
        var random = SplitMix(state: Fuzz.seed)
        for _ in 0..<1000 {
            for bytes in [few, many] {
                var changed = bytes
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                guard let read = DistinctSketch(encoded: changed) else { continue }
                #expect(read.encoded == changed && read.estimate >= 0, "\(Fuzz.seed)")
            }
        }
    }

    @Test func everyRegisterAtItsHighestRankIsNoTrap() throws {
        let full = try #require(DistinctSketch(encoded: [2] + [UInt8](repeating: 53, count: 4096)))
        #expect(full.estimate == .max)
        let one = try #require(DistinctSketch(encoded: [2, 1] + [UInt8](repeating: 0, count: 4095)))
        #expect(one.estimate == 1)
    }

    // The vectors of the reference implementation (github.com/veorq/SipHash, vectors.h, read 2026-11-26).
    @Test(
        arguments: [
            (0, 0x726F_DB47_DD0E_0E31), (1, 0x74F8_39C5_93DC_67FD), (7, 0xAB02_00F5_8B01_D137),
            (8, 0x93F5_F579_9A93_2462),
            (15, 0xA129_CA61_49BE_45E5),
        ] as [(Int, UInt64)]
    )
    func hashesAreThoseOfSipHash(_ count: Int, _ expected: UInt64) throws {
        #expect(try hash()(Array(0..<UInt8(count))) == expected)
    }

    @Test func aKeyHasSixteenBytes() throws {
        #expect(KeyedHash(key: []) == nil && KeyedHash(key: [UInt8](repeating: 0, count: 17)) == nil)
        let other = try #require(KeyedHash(key: [UInt8](repeating: 0, count: 16)))
        #expect(try hash()([1]) != other([1]))
    }
}
