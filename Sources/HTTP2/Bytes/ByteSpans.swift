internal import Glibc

/// Copies many bytes at a time. Callers, which do this for each push, need no pointers.
extension OutputSpan<UInt8> {
    /// Appends as many of the bytes as fit, and returns whether all of them did.
    @discardableResult
    package mutating func append(copying bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(copying: $0) }
    }

    /// Appends as much of a text literal as fits, without a `String`, and returns whether all of it did.
    @discardableResult
    package mutating func append(copying text: StaticString) -> Bool {
        unsafe append(copying: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a text between two literals in one step. Bytes that do not fit are left out.
    ///
    /// - Returns: whether everything fitted.
    @discardableResult
    package mutating func append(_ before: StaticString, copying text: Span<UInt8>, _ after: StaticString) -> Bool {
        let (first, last) = (before.utf8CodeUnitCount, after.utf8CodeUnitCount)
        guard text.count <= freeCapacity &- first &- last else {
            // Fill the remaining capacity, as separate calls would do.
            return append(copying: before) && append(copying: text) && append(copying: after)
        }
        unsafe withUnsafeMutableBufferPointer { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            unsafe memcpy(base + filled, before.utf8Start, first)
            filled += first
            unsafe text.withUnsafeBufferPointer { bytes in
                if let start = bytes.baseAddress { unsafe memcpy(base + filled, start, bytes.count) }
            }
            filled += text.count
            unsafe memcpy(base + filled, after.utf8Start, last)
            filled += last
        }
        return true
    }

    /// Appends the first `count` bytes of the numbers, each in little-endian order; appends nothing if they do not fit.
    package mutating func append(words: InlineArray<5, UInt64>, count: Int) {
        var bytes = words
        for index in bytes.indices { bytes[index] = words[index].littleEndian }
        guard count <= freeCapacity, count <= 40 else { return }
        unsafe bytes.span.withUnsafeBytes { raw in
            let all = unsafe raw.bindMemory(to: UInt8.self)
            _ = unsafe append(copying: UnsafeBufferPointer(rebasing: all[..<count]))
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
    /// Eight bytes as a little-endian number. Traps if fewer than eight bytes are left.
    @inlinable
    package func word(at place: Int) -> UInt64 {
        precondition(place >= 0 && place &+ 8 <= count)
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian }
    }

    /// Whether any byte is marked.
    ///
    /// It checks eight bytes at a time; the last eight may overlap the ones before. It does not stop early, because valid text must be read completely anyway.
    ///
    /// - Parameters:
    ///   - filler: a byte that is not marked; it pads a text of fewer than eight bytes.
    ///   - mark: marks the bytes to find.
    /// - Returns: true if `mark` marked a byte.
    @inlinable
    @inline(__always)
    package func contains(filler: UInt8, where mark: (ByteLanes) -> UInt64) -> Bool {
        unsafe withUnsafeBytes { bytes in
            let count = bytes.count
            guard count >= 8, let base = bytes.baseAddress else {
                var lanes: UInt64 = UInt64(filler) &* 0x0101_0101_0101_0101
                for index in 0..<count {
                    let shift = UInt64(truncatingIfNeeded: index &* 8)
                    lanes = unsafe lanes & ~(0xFF &<< shift) | UInt64(bytes[index]) &<< shift
                }
                return mark(ByteLanes(lanes)) & ByteLanes.marks != 0
            }
            // Use addresses: the buffer would check each index, which takes longer than the check of the word.
            let last = unsafe base + (count &- 8)
            var found = unsafe mark(ByteLanes(last.loadUnaligned(as: UInt64.self)))
            var next = unsafe base
            while unsafe next < last {
                found |= unsafe mark(ByteLanes(next.loadUnaligned(as: UInt64.self)))
                unsafe next += 8
            }
            return found & ByteLanes.marks != 0
        }
    }
}
