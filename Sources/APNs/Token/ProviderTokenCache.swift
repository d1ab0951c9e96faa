/// The provider tokens of this process: one per (team, key) for all pools, with at most one look-up in progress for each.
///
/// Pools call it a few times per hour and key, so an actor is fast enough. It creates no tasks: the first caller calls the source, the others wait for the
/// result.
package actor ProviderTokenCache {
    private typealias Answer = Result<AgedProviderToken, APNsError>

    private struct Entry {
        var machine = ProviderTokenMachine()
        var waiters: [CheckedContinuation<Answer, Never>] = []
    }

    private let source: any ProviderTokenSource
    private let now: @Sendable () -> ContinuousClock.Instant
    private var entries: [ProviderTokenSigner.ID: Entry] = [:]

    /// Creates a cache of the tokens from `source`. `now` is the monotonic clock; tests set it by hand.
    package init(
        source: any ProviderTokenSource,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.source = source
        self.now = now
    }

    /// The current token. It is fetched if there is none, or if it is due for renewal.
    ///
    /// - Parameters:
    ///   - signer: the signer of the token.
    ///   - stale: a token that the peer has reported as expired.
    /// - Returns: the token and its current age.
    /// - Throws: `tokenTooYoung` if `stale` may not be replaced yet; the source's error if no usable token is available.
    package func token(
        for signer: ProviderTokenSigner,
        replacing stale: ProviderToken? = nil
    ) async throws(APNsError) -> AgedProviderToken {
        switch entries[signer.id, default: Entry()].machine.requested(replacing: stale, at: now()) {
        case .use(let token): return token
        case .refuse(let wait): throw APNsError(.tokenTooYoung, retryAfter: wait)
        case .join: return try await joined(signer.id).get()
        case .obtain: return try await obtained(signer, replacing: stale).get()
        }
    }

    /// Removes a signer that no credential uses any longer. Callers that wait for its look-up get `tokenUnavailable`.
    package func forget(_ signer: ProviderTokenSigner.ID) {
        if let entry = entries.removeValue(forKey: signer) {
            for waiter in entry.waiters { waiter.resume(returning: .failure(APNsError(.tokenUnavailable))) }
        }
    }

    private func joined(_ id: ProviderTokenSigner.ID) async -> Answer {
        await withCheckedContinuation { entries[id, default: Entry()].waiters.append($0) }
    }

    private func obtained(_ signer: ProviderTokenSigner, replacing stale: ProviderToken?) async -> Answer {
        var answer: Answer
        do throws(APNsError) {
            answer = .success(try await source.token(for: signer, replacing: stale))
        } catch {
            answer = .failure(error)
        }
        // Read the entry again: during the wait, other callers may have joined, or the signer may have been removed.
        guard var entry = entries[signer.id] else { return answer }
        switch answer {
        case .success(let token): entry.machine.obtained(token, at: now())
        case .failure:
            // A token that the peer has just refused is not a usable answer.
            if let before = entry.machine.failed(at: now()), before.token != stale { answer = .success(before) }
        }
        let waiters = entry.waiters
        entry.waiters = []
        entries[signer.id] = entry
        for waiter in waiters { waiter.resume(returning: answer) }
        return answer
    }
}
