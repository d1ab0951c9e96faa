package import Model

/// A caller's repeat key and what it must come with again.
package struct IdempotencyKey: Sendable, Hashable {
    package var key: String
    package var bodyHash: String

    package init(key: String, bodyHash: String) {
        self.key = key
        self.bodyHash = bodyHash
    }
}

/// What came of an acceptance.
package enum Acceptance: Sendable, Hashable {
    case inserted
    /// The same key came before with the same body: its first answer.
    case repeated(MessageID, recipients: Int?)
    /// The same key came before with another body.
    case mismatch
}
