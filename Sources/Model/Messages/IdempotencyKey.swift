/// A caller's repeat key and what it must come with again.
package struct IdempotencyKey: Sendable, Hashable {
    package var key: String
    package var bodyHash: String

    package init(key: String, bodyHash: String) {
        self.key = key
        self.bodyHash = bodyHash
    }
}
