import DeviceFiles
package import Foundation

/// The content of a device file as chunks, in constant memory. A file that begins as gzip does is inflated.
package struct DeviceChunks: AsyncSequence {
    /// 256 KiB per read: some thousand rows.
    private static let chunkBytes = 262_144

    private let source: FileHandle
    /// The part of the content that is skipped. Unit: bytes.
    private let skipped: Int
    /// Whether the source is read from its beginning, where it shows whether it is compressed.
    private let isWhole: Bool

    /// - Parameter source: a source that cannot be read again, from its beginning.
    package init(streaming source: FileHandle) {
        self.source = source
        (skipped, isWhole) = (0, true)
    }

    /// - Parameters:
    ///   - file: a file.
    ///   - offset: where its content continues. Unit: bytes, of the inflated content.
    /// - Throws: the error of reading.
    package init(_ file: FileHandle, at offset: Int) throws {
        source = file
        if offset > 0, try Self.isCompressed(file) {
            (skipped, isWhole) = (offset, true)
        } else {
            try file.seek(toOffset: UInt64(clamping: offset))
            (skipped, isWhole) = (0, offset == 0)
        }
    }

    /// Whether the file is gzip. It is at its beginning then.
    ///
    /// - Throws: the error of reading.
    package static func isCompressed(_ file: FileHandle) throws -> Bool {
        try file.seek(toOffset: 0)
        let beginning = try file.read(upToCount: 2) ?? Data()
        try file.seek(toOffset: 0)
        return GzipInflater.begins(beginning)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source, skipped: skipped, isFirst: isWhole)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: FileHandle
        fileprivate var skipped: Int
        fileprivate var isFirst: Bool
        fileprivate var inflater: GzipInflater?

        fileprivate init(source: FileHandle, skipped: Int, isFirst: Bool) {
            self.source = source
            self.skipped = skipped
            self.isFirst = isFirst
        }

        /// - Throws: the error of reading, or `GzipInflater.Fault`.
        package mutating func next() async throws -> [UInt8]? {
            while true {
                if let piece = try inflated() { return piece }
                guard let data = try source.read(upToCount: chunkBytes), !data.isEmpty else {
                    try inflater?.finish()
                    return nil
                }
                let chunk = Array(data)
                if isFirst, GzipInflater.begins(chunk) { inflater = GzipInflater() }
                isFirst = false
                if inflater == nil { return chunk }
                inflater?.feed(chunk)
            }
        }

        /// The next inflated piece; nil: there is none before more is read.
        private mutating func inflated() throws(GzipInflater.Fault) -> [UInt8]? {
            while let piece = try inflater?.next() {
                guard skipped > 0 else { return piece }
                let rest = Array(piece.dropFirst(skipped))
                skipped = piece.count < skipped ? skipped - piece.count : 0
                if !rest.isEmpty { return rest }
            }
            return nil
        }
    }
}
