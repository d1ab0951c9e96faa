internal import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Credentials: opened, replaced, removed, revoked; and the pools they share.
extension APNsTransport {
    /// 64 sets of trust roots are kept; all but a simulator's credentials use one. Above it the cache starts anew.
    private static let keptContextCount = 64

    /// Opens a credential, or replaces the one of that name.
    ///
    /// After it returns, new pushes use the new key or certificate; what is in flight on the old one finishes there, what had not begun comes back
    /// as `unsent`, to be sent again. The same credential again changes nothing. Dials nothing, unless connections are kept warm.
    ///
    /// - Throws: `badKey`, `badIdentifier`, `badTrustRoots`, `badCertificate`, `tooManyCredentials` or `shutDown`; then the one before is still
    ///   open.
    package func open(_ key: CredentialKey, _ credential: APNsCredential) throws(APNsError) {
        if state.withLockedValue({ $0.routes[key]?.credential }) == credential { return }
        let voice = try Voice(credential)
        let tls = try context(for: credential)
        let result = state.withLockedValue { state -> Result<[Departure], APNsError> in
            if state.isShutDown { return .failure(APNsError(.shutDown)) }
            let before = state.routes[key]
            if before == nil, state.routes.count >= configuration.limits.maxCredentials {
                return .failure(APNsError(.tooManyCredentials))
            }
            let route = APNsRoute(
                credential: credential,
                production: pool(for: credential, .production, voice, tls, &state),
                sandbox: pool(for: credential, .sandbox, voice, tls, &state)
            )
            state.routes[key] = route
            return .success(depart(before, for: route, &state))
        }
        for departure in try result.get() { finish(departure) }
        let warm = configuration.limits.warmConnections
        if warm > 0 { for environment in PushEnvironment.allCases { keepWarm(warm, key, environment) } }
    }

    /// Closes a credential. What is in flight finishes; what waited comes back as `unsent(noCredential)`, as does every later push.
    package func remove(_ key: CredentialKey) {
        let departures = state.withLockedValue { depart($0.routes.removeValue(forKey: key), for: nil, &$0) }
        for departure in departures { finish(departure) }
        closeChannels(of: key)
    }

    /// Keeps so many connections of a credential open whether or not anything is sent, at most `APNsLimits.maxConnections`.
    ///
    /// They are dialled one after the other, `APNsLimits.dialSpacing` apart, and again when they end. A token connection still lets one push
    /// through before the others: Apple wants to see a provider token first.
    ///
    /// - Returns: false if the credential is not open, or not for that environment.
    @discardableResult
    package func keepWarm(_ count: Int, _ key: CredentialKey, _ environment: PushEnvironment) -> Bool {
        guard let pool = state.withLockedValue({ $0.routes[key]?.pool(environment) }) else { return false }
        pool.keepWarm(count)
        return true
    }

    // MARK: Pools

    /// Who speaks for a credential.
    private struct Voice {
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

    /// A pool on its way out, and who takes over what it has not sent.
    private struct Departure {
        let pool: ConnectionPool
        let successor: ConnectionPool?
        /// Whose provider tokens nobody needs any more.
        let unusedSigner: ProviderTokenSigner.ID?
    }

    func context(for credential: APNsCredential) throws(APNsError) -> TLSContext {
        // A certificate's context is its own: sessions must not be resumed under another one.
        if case .certificate = credential.proof { return try credential.makeTLSContext() }
        if let known = state.withLockedValue({ $0.contexts[credential.trustRootsPEM] }) { return known }
        let context = try credential.makeTLSContext()
        state.withLockedValue { state in
            if state.contexts.count >= Self.keptContextCount { state.contexts.removeAll() }
            state.contexts[credential.trustRootsPEM] = context
        }
        return context
    }

    /// The pool for one environment of a credential, nil if its certificate is not for it; inside the lock.
    private func pool(
        for credential: APNsCredential,
        _ environment: PushEnvironment,
        _ voice: Voice,
        _ tls: TLSContext,
        _ state: inout State
    ) -> ConnectionPool? {
        guard credential.fits(environment) else { return nil }
        let endpoint = credential.endpoint ?? APNsEndpoint(environment)
        let key = PoolKey(endpoint: endpoint, speaker: voice.speaker, trustRootsPEM: credential.trustRootsPEM)
        if let known = state.pools[key] { return known }
        state.openedPoolCount += 1
        let pool = ConnectionPool(
            key: key,
            signer: voice.signer,
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
        // Until the peer's SETTINGS are here; the pool keeps to 1 until it has seen a good answer, whatever they say.
        connection.initialStreamLimit = 1
        connection.limits = configuration.connectionLimits
        connection.timeouts = configuration.timeouts
        // docs/contracts/apns.md#13.6: hours to days is what Apple wants; its sandbox lets connections go bad sooner.
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

    /// Takes the pools of a replaced route out of use, unless another credential shares them; inside the lock.
    private func depart(_ route: APNsRoute?, for successor: APNsRoute?, _ state: inout State) -> [Departure] {
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
            return Departure(pool: pool, successor: successor, unusedSigner: unused)
        }
    }

    /// Retires a pool and hands on what it had not sent; outside the lock.
    private func finish(_ departure: Departure) {
        for run in departure.pool.retire() {
            if departure.successor?.send(run) == true { continue }
            giveBack(run, .unsent(TransportError(departure.successor == nil ? .noCredential : .goingAway)))
        }
        if let signer = departure.unusedSigner { workContinuation.yield(.forget(signer)) }
    }

    private func ended(_ pool: ConnectionPool) {
        let waiting: [AsyncStream<Void>.Continuation] = state.withLockedValue { state in
            if state.leaving.removeValue(forKey: ObjectIdentifier(pool)) != nil { state.departed += pool.metrics }
            guard state.leaving.isEmpty else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for continuation in waiting { continuation.finish() }
    }
}
