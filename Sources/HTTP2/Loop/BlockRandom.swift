internal import CLinuxEvents
internal import NIOConcurrencyHelpers

/// The kernel's random numbers, fetched in blocks, because a system call for each number costs more than the rest of an identifier.
///
/// For identifiers. Keys and secrets come from `SystemRandomNumberGenerator`, so that no copy of them waits in memory.
package struct BlockRandom: RandomNumberGenerator, Sendable {
    /// 256 bytes: as many as the kernel returns at once, whatever signals arrive.
    private static let blockWords = 32
    /// The numbers of this process that nobody has drawn yet.
    private static let words = NIOLockedValueBox<[UInt64]>([])

    package init() {}

    package mutating func next() -> UInt64 {
        Self.words.withLockedValue { words in
            if words.isEmpty { words = Self.block() }
            return words.popLast() ?? Self.word()
        }
    }

    private static func block() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: blockWords)
        let isFilled = unsafe words.withUnsafeMutableBufferPointer { buffer in
            unsafe gateway_random(buffer.baseAddress, buffer.count) == 1
        }
        return isFilled ? words : words.map { _ in word() }
    }

    private static func word() -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
