internal import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Opens, replaces, removes and revokes credentials, and manages the pools that they share.
extension APNsTransport {
    /// 64 sets of trust roots are kept; all credentials except those of simulators use one set. Above the limit the cache is emptied.
    private static let keptContextCount = 64

    /// Opens a credential, or replaces the one with that key.
    ///
    /// After it returns, new pushes use the new key or certificate. Pushes in flight with the old one finish there; pushes that were not sent come back as
    /// `unsent`, to be sent again. Opening the same credential again changes nothing. It does not dial, unless connections are kept warm.
    ///
    /// - Throws: `badKey`, `badIdentifier`, `badTrustRoots`, `badCertificate`, `tooManyCredentials` or `shutDown`; then the previous credential is still open.
    package func open(_ key: CredentialKey, _ credential: APNsCredential) throws(APNsError) {
        if state.withLockedValue({ $0.routes[key]?.credential }) == credential { return }
        let identity = try PoolIdentity(credential)
        let tls = try context(for: credential)
        let result = state.withLockedValue { state -> Result<[PoolRetirement], APNsError> in
            if state.isShutDown { return .failure(APNsError(.shutDown)) }
            let before = state.routes[key]
            if before == nil, state.routes.count >= configuration.limits.maxCredentials {
                return .failure(APNsError(.tooManyCredentials))
            }
            let route = APNsRoute(
                credential: credential,
                production: pool(for: credential, .production, identity, tls, &state),
                sandbox: pool(for: credential, .sandbox, identity, tls, &state)
            )
            state.routes[key] = route
            return .success(withdraw(before, for: route, &state))
        }
        for retirement in try result.get() { finish(retirement) }
        let warm = configuration.limits.warmConnections
        if warm > 0 { for environment in PushEnvironment.allCases { keepWarm(warm, key, environment) } }
    }

    /// Closes a credential. Pushes in flight finish; waiting pushes come back as `unsent(noCredential)`, as does every later push.
    package func remove(_ key: CredentialKey) {
        let retirements = state.withLockedValue { withdraw($0.routes.removeValue(forKey: key), for: nil, &$0) }
        for retirement in retirements { finish(retirement) }
        closeChannels(of: key)
    }

    /// Keeps this number of connections of a credential open even if nothing is sent, at most `APNsLimits.maxConnections`.
    ///
    /// They are dialled one after the other, `APNsLimits.dialSpacing` apart, and again when they end. A token connection still sends one push before the
    /// others: Apple must see a provider token first.
    ///
    /// - Returns: false if the credential is not open, or not valid for that environment.
    @discardableResult
    package func keepWarm(_ count: Int, _ key: CredentialKey, _ environment: PushEnvironment) -> Bool {
        guard let pool = state.withLockedValue({ $0.routes[key]?.pool(environment) }) else { return false }
        pool.keepWarm(count)
        return true
    }

    // MARK: Pools

    /// How a credential authenticates.
    private struct PoolIdentity {
        let speaker: PoolKey.Speaker
        let signer: ProviderTokenSigner?

        init(_ credential: APNsCredential) throws(APNsError) {
            switch credential.proof {
            case .token(let key):
                let signer = try ProviderTokenSigner(
                    teamID: key.teamID,
                    keyID: key.keyID,
                    privateKeyPEM: key.privateKeyPEM
                )
                self.signer = signer
                speaker = .key(signer.id)
            case .certificate(let identity):
                signer = nil
                speaker = .certificate(identity.certificate.fingerprint)
            }
        }
    }

    /// A pool that is being retired, and the pool that takes over its unsent pushes.
    private struct PoolRetirement {
        let pool: ConnectionPool
        let successor: ConnectionPool?
        /// The signer whose provider tokens are not needed any longer.
        let unusedSigner: ProviderTokenSigner.ID?
    }

    func context(for credential: APNsCredential) throws(APNsError) -> TLSContext {
        // A certificate has its own context: its sessions must not be resumed with another certificate.
        if case .certificate = credential.proof { return try credential.makeTLSContext() }
        if let known = state.withLockedValue({ $0.contexts[credential.trustRootsPEM] }) { return known }
        let context = try credential.makeTLSContext()
        state.withLockedValue { state in
            if state.contexts.count >= Self.keptContextCount { state.contexts.removeAll() }
            state.contexts[credential.trustRootsPEM] = context
        }
        return context
    }

    /// The pool for one environment of a credential; nil if its certificate is not valid for it. Call it inside the lock.
    private func pool(
        for credential: APNsCredential,
        _ environment: PushEnvironment,
        _ identity: PoolIdentity,
        _ tls: TLSContext,
        _ state: inout State
    ) -> ConnectionPool? {
        guard credential.fits(environment) else { return nil }
        let endpoint = credential.endpoint ?? APNsEndpoint(environment)
        let key = PoolKey(endpoint: endpoint, speaker: identity.speaker, trustRootsPEM: credential.trustRootsPEM)
        if let known = state.pools[key] { return known }
        state.openedPoolCount += 1
        let pool = ConnectionPool(
            key: key,
            signer: identity.signer,
            surroundings: surroundings(endpoint, tls, state.openedPoolCount)
        )
        state.pools[key] = pool
        return pool
    }

    private func surroundings(
        _ endpoint: APNsEndpoint,
        _ tls: TLSContext,
        _ ordinal: Int
    ) -> ConnectionPool.Surroundings {
        var connection = ConnectionConfiguration(host: endpoint.host, port: endpoint.port, tls: tls)
        connection.collectedFields = APNsHeader.collected
        // This holds until the peer's SETTINGS arrive; after them the pool still keeps to 1 until it has seen a good answer.
        connection.initialStreamLimit = 1
        connection.limits = configuration.connectionLimits
        connection.timeouts = configuration.timeouts
        // docs/contracts/apns.md#13.6: Apple wants hours to days; the connections of its sandbox go bad sooner.
        let age: Duration = endpoint == .sandbox ? .seconds(600) : .seconds(86_400)
        connection.timeouts.maxAge = configuration.timeouts.maxAge ?? age
        return ConnectionPool.Surroundings(
            limits: configuration.limits,
            configuration: connection,
            loops: loops,
            firstLoop: ordinal,
            post: { [workContinuation] in workContinuation.yield($0) },
            ended: { [weak self] in self?.ended($0) }
        )
    }

    /// Removes the pools of a replaced route from use, unless another credential shares them. Call it inside the lock.
    private func withdraw(_ route: APNsRoute?, for successor: APNsRoute?, _ state: inout State) -> [PoolRetirement] {
        guard let route else { return [] }
        let candidates = [(route.production, successor?.production), (route.sandbox, successor?.sandbox)]
        return candidates.compactMap { pool, successor in
            guard let pool else { return nil }
            let isUsed = state.routes.values.contains { $0.production === pool || $0.sandbox === pool }
            guard !isUsed, state.pools[pool.key] === pool else { return nil }
            state.pools[pool.key] = nil
            state.leaving[ObjectIdentifier(pool)] = pool
            var unused: ProviderTokenSigner.ID?
            if case .key(let signer) = pool.key.speaker,
                !state.pools.keys.contains(where: { $0.speaker == pool.key.speaker })
            {
                unused = signer
            }
            return PoolRetirement(pool: pool, successor: successor, unusedSigner: unused)
        }
    }

    /// Retires a pool and passes its unsent pushes on. Call it outside the lock.
    private func finish(_ retirement: PoolRetirement) {
        for run in retirement.pool.retire() {
            if retirement.successor?.send(run) == true { continue }
            let error = TransportError(retirement.successor == nil ? .noCredential : .goingAway)
            run.job.complete(run.remaining, .unsent(error))
        }
        if let signer = retirement.unusedSigner { workContinuation.yield(.forget(signer)) }
    }

    private func ended(_ pool: ConnectionPool) {
        let waiting: [AsyncStream<Void>.Continuation] = state.withLockedValue { state in
            state.leaving[ObjectIdentifier(pool)] = nil
            guard state.leaving.isEmpty else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for continuation in waiting { continuation.finish() }
    }
}
