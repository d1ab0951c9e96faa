package import Model

/// The store in which the nodes of a cluster keep the provider token of each key. An implementation must guarantee:
///
/// - `offer` decides in one step: if two nodes offer at once, one wins and both get the winner's token;
/// - tokens are sealed at rest (I7);
/// - it limits its own waiting, and throws `tokenUnavailable` when it cannot be reached.
package protocol ProviderTokenStore: Sendable {
    /// The current token of a signer, if there is one.
    func standing(for signer: ProviderTokenSigner.ID) async throws(APNsError) -> ProviderToken?

    /// Stores a token if there is none or the stored one was issued before a time, and returns the token that is then current.
    func offer(
        _ token: ProviderToken,
        for signer: ProviderTokenSigner.ID,
        replacingOlderThan time: Timestamp
    ) async throws(APNsError) -> ProviderToken
}

/// The source of a cluster: every node uses the token in the store, and the first node that finds it due signs the next one.
///
/// A key therefore has one token at a time over all nodes, renewed between 20 and 60 minutes (I8), however many nodes request it and however late. Nodes
/// request it when their cache requires it, at 50 minutes; a node that was offline takes the current one.
package struct SharedTokens: ProviderTokenSource {
    private let store: any ProviderTokenStore
    private let clock: any WallClock

    /// Creates a source that shares tokens through `store`. `clock` is the database's clock: `iat` and age both use it, so that a node with a wrong clock does
    /// no harm.
    package init(store: any ProviderTokenStore, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    package func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken {
        guard let standing = try await store.standing(for: signer.id) else {
            // Another node may have stored one at the same time; that one must not be replaced.
            return try await offer(signer, replacingOlderThan: clock.now() + .seconds(-3_600))
        }
        let aged = aged(standing)
        if standing.text == stale?.text {
            guard aged.age >= ProviderTokenAge.minimum else {
                throw APNsError(.tokenTooYoung, retryAfter: ProviderTokenAge.minimum - aged.age)
            }
        } else if aged.age < ProviderTokenAge.renewal {
            return aged
        }
        // Replaces the token that was read above, but not a later one.
        return try await offer(signer, replacingOlderThan: standing.issuedAt + .milliseconds(1))
    }

    private func offer(
        _ signer: ProviderTokenSigner,
        replacingOlderThan time: Timestamp
    ) async throws(APNsError) -> AgedProviderToken {
        let token = try signer.sign(issuedAt: clock.now())
        return aged(try await store.offer(token, for: signer.id, replacingOlderThan: time))
    }

    private func aged(_ token: ProviderToken) -> AgedProviderToken {
        AgedProviderToken(token, age: max(.zero, clock.now() - token.issuedAt))
    }
}
