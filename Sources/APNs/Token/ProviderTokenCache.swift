/// The provider tokens of this process: one per (team, key), whoever uses it, and one look-up at a time for each.
///
/// Asked by pools, a few times per hour and key; an actor is fast enough. It makes no tasks: the first caller asks the source, the others
/// wait for it.
package actor ProviderTokenCache {
    private typealias Answer = Result<AgedProviderToken, APNsError>

    private struct Entry {
        var machine = ProviderTokenMachine()
        var waiters: [CheckedContinuation<Answer, Never>] = []
    }

    private let source: any ProviderTokenSource
    private let now: @Sendable () -> ContinuousClock.Instant
    private var entries: [ProviderTokenSigner.ID: Entry] = [:]

    /// Caches what `source` gives. `now` is the monotonic clock; tests move it by hand.
    package init(
        source: any ProviderTokenSource,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.source = source
        self.now = now
    }

    /// The current token, fetched if there is none or it is due.
    ///
    /// - Parameters:
    ///   - signer: whose token.
    ///   - stale: a token that the peer has called expired.
    /// - Returns: the token and its age now.
    /// - Throws: `tokenTooYoung` if `stale` may not be replaced yet; what the source throws if there is no usable token.
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

    /// Forgets a signer that no credential uses any more. A look-up under way still answers its waiters.
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
        // Read again: while we waited, others have joined, or the signer was forgotten.
        guard var entry = entries[signer.id] else { return answer }
        switch answer {
        case .success(let token): entry.machine.obtained(token, at: now())
        case .failure:
            // The one that the peer has just refused is no answer.
            if let before = entry.machine.failed(at: now()), before.token != stale { answer = .success(before) }
        }
        let waiters = entry.waiters
        entry.waiters = []
        entries[signer.id] = entry
        for waiter in waiters { waiter.resume(returning: answer) }
        return answer
    }
}
