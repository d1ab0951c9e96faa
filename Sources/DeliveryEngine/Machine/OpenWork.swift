/// Work that a slice has begun and not written yet: a node that is killed now loses the knowledge of it, so at most these pushes are repeated.
package struct OpenWork: Sendable, Hashable {
    /// Pushes that were passed to a transport and have no answer yet.
    package var pushes = 0
    /// Outcomes that the store has not confirmed.
    package var results = 0

    package init(pushes: Int = 0, results: Int = 0) {
        self.pushes = pushes
        self.results = results
    }
}
