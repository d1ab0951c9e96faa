package import Model

/// A source of provider tokens. An implementation must guarantee:
///
/// - the token's `iat` and its age are by one clock, the database's, on every node;
/// - all users of the source share one token per signer at a time, and a new one is never made within 20 minutes (I8);
/// - it limits its own waiting. It is called by one caller at a time per signer.
package protocol ProviderTokenSource: Sendable {
    /// A token that is younger than 50 minutes, and not `stale` if a younger one may be made.
    ///
    /// - Parameters:
    ///   - signer: the signer of the token; it can sign a new one.
    ///   - stale: a token that the peer has reported as expired.
    /// - Returns: the token and its current age.
    /// - Throws: `tokenUnavailable` if the store cannot be reached, `signingFailed`.
    func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken
}

/// The source of a single gateway: it signs each token here when the cache requests one.
package struct SelfSignedTokens: ProviderTokenSource {
    private let clock: any WallClock

    /// Creates a source that takes `iat` from `clock`.
    package init(clock: any WallClock) { self.clock = clock }

    package func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken {
        AgedProviderToken(try signer.sign(issuedAt: clock.now()), age: .zero)
    }
}
