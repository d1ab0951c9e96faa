/// A caller's idempotency key, and the hash that a repeated call must have.
package struct IdempotencyKey: Sendable, Hashable {
    package var key: String
    package var bodyHash: String

    package init(key: String, bodyHash: String) {
        self.key = key
        self.bodyHash = bodyHash
    }
}
