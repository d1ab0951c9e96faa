/// Images and other files that belong to messages.
package enum MediaCommand: Sendable, Hashable {
    /// All of account, message and image must match.
    case fetch(message: String, media: String)
    /// Stores bytes under their hash (native API).
    case store(bytes: [UInt8], hash: String)
}

/// What came of a media command.
package enum MediaReply: Sendable, Hashable {
    case bytes([UInt8], contentType: String)
    case stored(hash: String)
}
