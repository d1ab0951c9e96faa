/// A stored image: its unguessable id on the wire and the hash of its bytes.
package struct MediaReference: Sendable, Hashable {
    /// 32 lower-case hex digits; a capability.
    package var id: String
    /// SHA-256 of the bytes, lower-case hex: the key of the media table.
    package var hash: String

    package init(id: String, hash: String) {
        self.id = id
        self.hash = hash
    }
}

/// An image inside a call, already decoded.
package struct InlineImage: Sendable, Hashable {
    package var name: String?
    package var bytes: [UInt8]
    /// The size that the caller states, in bytes. A difference is logged but not refused.
    package var statedSize: Int?

    package init(name: String?, bytes: [UInt8], statedSize: Int? = nil) {
        self.name = name
        self.bytes = bytes
        self.statedSize = statedSize
    }
}
