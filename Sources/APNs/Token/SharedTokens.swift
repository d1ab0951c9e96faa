package import Model

/// Where the nodes of a cluster keep the provider token of each key. What the implementer owes:
///
/// - `offer` decides in one step: of two nodes that offer at once, one wins and both get the winner's token;
/// - tokens are sealed at rest (I7);
/// - it bounds its own waiting, and throws `tokenUnavailable` when it cannot be asked.
package protocol ProviderTokenStore: Sendable {
    /// The token that stands for a signer, if there is one.
    func standing(for signer: ProviderTokenSigner.ID) async throws(APNsError) -> ProviderToken?

    /// Puts a token where there is none, or in place of one issued before a time, and gives the one that stands then.
    func offer(
        _ token: ProviderToken,
        for signer: ProviderTokenSigner.ID,
        replacingOlderThan time: Timestamp
    ) async throws(APNsError) -> ProviderToken
}

/// The source of a cluster: every node sends the token that stands in the store, and whoever comes first when it is due signs the next.
///
/// So a key has one token at a time over all nodes, renewed between 20 and 60 minutes (I8), however many nodes ask and however late. Nodes ask
/// when their cache says so, at 50 minutes; a node that was away takes what stands.
package struct SharedTokens: ProviderTokenSource {
    private let store: any ProviderTokenStore
    private let clock: any WallClock

    /// Shares through `store`. `clock` is the database's: `iat` and age are both by it, so that a node with a wrong clock does no harm.
    package init(store: any ProviderTokenStore, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    package func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken {
        guard let standing = try await store.standing(for: signer.id) else {
            // Another node may be as quick: it must not be replaced.
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
        // The one that was seen and no later one.
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
