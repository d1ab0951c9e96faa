package import Model

/// Where provider tokens come from. What the implementer owes:
///
/// - the token's `iat` and its age are by one clock, the database's, whatever node asks;
/// - over everything that shares the source there is one token per signer at a time, and never a new one within 20 minutes (I8);
/// - it is asked by one caller at a time per signer, and bounds its own waiting.
package protocol ProviderTokenSource: Sendable {
    /// A token that is younger than 50 minutes, and not `stale` if a younger one may be made.
    ///
    /// - Parameters:
    ///   - signer: whose token, and what can sign a new one.
    ///   - stale: a token that the peer has called expired.
    /// - Returns: the token and its age now.
    /// - Throws: `tokenUnavailable` if the store cannot be asked, `signingFailed`.
    func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken
}

/// The source of a gateway that is alone: each token is signed here, when the cache says that it is time.
package struct SelfSignedTokens: ProviderTokenSource {
    private let clock: any WallClock

    /// Signs by `clock`, which gives `iat`.
    package init(clock: any WallClock) { self.clock = clock }

    package func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken?
    ) async throws(APNsError) -> AgedProviderToken {
        AgedProviderToken(try signer.sign(issuedAt: clock.now()), age: .zero)
    }
}
