internal import Glibc

/// Bytes copied and looked over many at a time. Here, because the checks that every push goes through are written without pointers.
extension OutputSpan<UInt8> {
    /// Adds as many of the bytes as there is room for and says whether that was all.
    @discardableResult
    package mutating func append(copying bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(copying: $0) }
    }

    /// The same for text that is written in the source: without a `String`.
    @discardableResult
    package mutating func append(copying text: StaticString) -> Bool {
        unsafe append(copying: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The eight bytes of a number, the lowest first; nothing if there is no room for them.
    package mutating func append(word: UInt64) {
        guard freeCapacity >= 8 else { return }
        unsafe withUnsafeMutableBufferPointer { buffer, filled in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            unsafe raw.storeBytes(of: word.littleEndian, toByteOffset: filled, as: UInt64.self)
            filled += 8
        }
    }

    private mutating func append(copying bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = min(bytes.count, freeCapacity)
        guard count > 0, let from = bytes.baseAddress else { return bytes.isEmpty }
        unsafe withUnsafeMutableBufferPointer { buffer, filled in
            if let to = buffer.baseAddress { unsafe memcpy(to + filled, from, count) }
            filled += count
        }
        return count == bytes.count
    }
}

extension Span<UInt8> {
    /// Eight bytes as a number, the first lowest. Traps where there are no eight.
    @inlinable
    package func word(at place: Int) -> UInt64 {
        precondition(place >= 0 && place &+ 8 <= count)
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
    }

    /// Whether some byte is marked. Eight at a time, the last eight maybe twice, and no early end: a good text has to be seen whole anyway.
    ///
    /// - Parameters:
    ///   - filler: a byte that is not marked, in place of those that a text of less than eight does not have.
    ///   - mark: sets the marks of the bytes that are looked for.
    /// - Returns: true if it marked one.
    @inlinable
    @inline(__always)
    package func contains(filler: UInt8, where mark: (ByteLanes) -> UInt64) -> Bool {
        unsafe withUnsafeBytes { bytes in
            let count = bytes.count
            guard count >= 8 else {
                var lanes: UInt64 = UInt64(filler) &* 0x0101_0101_0101_0101
                for index in 0..<count {
                    let shift = UInt64(truncatingIfNeeded: index &* 8)
                    lanes = unsafe lanes & ~(0xFF &<< shift) | UInt64(bytes[index]) &<< shift
                }
                return mark(ByteLanes(lanes)) & ByteLanes.marks != 0
            }
            var found = unsafe mark(ByteLanes(bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)))
            var offset = 0
            while offset &+ 8 < count {
                found |= unsafe mark(ByteLanes(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                offset &+= 8
            }
            return found & ByteLanes.marks != 0
        }
    }
}
