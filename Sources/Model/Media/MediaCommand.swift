/// Images and other files that belong to messages.
package enum MediaCommand: Sendable, Hashable {
    /// All of account, message and image must match.
    case fetch(message: String, media: String)
    /// The image of the message with this number in the call's dialect, whose data name `owner` under `ownerKey`.
    case image(number: String, owner: String)
    /// Stores bytes under their hash (native API).
    case store(bytes: [UInt8], hash: String)

    /// The key of a message's data that contains the owner of its image.
    package static let ownerKey = "owner"
}

/// The result of a media command.
package enum MediaReply: Sendable, Hashable {
    case bytes([UInt8], contentType: String)
    case stored(hash: String)
}
