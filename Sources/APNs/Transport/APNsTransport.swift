package import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Sends pushes to Apple: the `PushTransport` named `apns`.
///
/// Made once per process by the gateway, which also runs `run` for as long as it sends, and ends it with `shutdown`. Credentials come and
/// go while it runs. It dials when the first push of a credential comes; any thread may call it.
///
/// The caller bounds how much it has in flight; what the connection does not take waits here, up to `APNsLimits.maxQueuedPushes`.
package final class APNsTransport: PushTransport {
    /// How it behaves.
    package struct Configuration: Sendable {
        package var limits = APNsLimits()
        package var connectionLimits = HTTP2Limits()
        package var timeouts = HTTP2Timeouts()
        /// Threads for connections. One carries well over 100,000 pushes per second (engineering notes).
        package var loopCount = 1

        package init() {}
    }

    /// Where one credential's pushes go. Both are the same pool where a simulator stands for both environments.
    private struct Route {
        let credential: APNsCredential
        let production: ConnectionPool
        let sandbox: ConnectionPool

        func pool(_ environment: PushEnvironment) -> ConnectionPool {
            environment == .production ? production : sandbox
        }
    }

    private struct State {
        var routes: [CredentialKey: Route] = [:]
        /// Pools that some credential uses.
        var pools: [ConnectionPool.Key: ConnectionPool] = [:]
        /// Pools that finish what they have.
        var leaving: [ObjectIdentifier: ConnectionPool] = [:]
        /// What pools that are gone have counted.
        var departed = APNsMetrics()
        /// TLS settings by trust roots: reading the system's takes milliseconds and a megabyte, and most credentials share them.
        var contexts: [[UInt8]?: TLSContext] = [:]
        var openedPoolCount = 0
        var isShutDown = false
        /// Who waits until the last leaving pool has gone.
        var whenEmpty: [AsyncStream<Void>.Continuation] = []
    }

    /// 64 sets of trust roots are kept; all but a simulator's credentials use one. Above it the cache starts anew.
    private static let keptContextCount = 64

    package let name = "apns"
    private let configuration: Configuration
    private let tokens: ProviderTokenCache
    private let loops: [EventLoop]
    private let state = NIOLockedValueBox(State())
    /// Look-ups and timers: at most one of each per pool, so it needs no bound of its own.
    private let work: AsyncStream<PoolWork>
    private let workContinuation: AsyncStream<PoolWork>.Continuation

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - configuration: limits and deadlines.
    ///   - tokens: where provider tokens come from: `SelfSignedTokens` on one node, a shared store on several.
    /// - Throws: `system` if a thread cannot be made.
    package init(
        configuration: Configuration = Configuration(),
        tokens: any ProviderTokenSource
    ) throws(APNsError) {
        self.configuration = configuration
        self.tokens = ProviderTokenCache(source: tokens)
        do {
            var loops: [EventLoop] = []
            for index in 0..<max(1, configuration.loopCount) { loops.append(try EventLoop(name: "apns-\(index)")) }
            self.loops = loops
        } catch {
            throw APNsError(.system, underlying: error.debugDescription)
        }
        (work, workContinuation) = AsyncStream.makeStream()
    }

    // MARK: Credentials

    /// Opens a credential, or replaces the one of that name.
    ///
    /// After it returns, new pushes use the new key; what is in flight on the old one finishes there. The same credential again changes
    /// nothing. Dials nothing.
    ///
    /// - Throws: `badKey`, `badIdentifier`, `badTrustRoots`, `tooManyCredentials` or `shutDown`; then the one before is still open.
    package func open(_ key: CredentialKey, _ credential: APNsCredential) throws(APNsError) {
        if state.withLockedValue({ $0.routes[key]?.credential }) == credential { return }
        let signer = try ProviderTokenSigner(
            teamID: credential.teamID,
            keyID: credential.keyID,
            privateKeyPEM: credential.privateKeyPEM
        )
        let tls = try context(for: credential)
        let result = state.withLockedValue { state -> Result<[Departure], APNsError> in
            if state.isShutDown { return .failure(APNsError(.shutDown)) }
            let before = state.routes[key]
            if before == nil, state.routes.count >= configuration.limits.maxCredentials {
                return .failure(APNsError(.tooManyCredentials))
            }
            let route = Route(
                credential: credential,
                production: pool(for: credential, .production, signer, tls, &state),
                sandbox: pool(for: credential, .sandbox, signer, tls, &state)
            )
            state.routes[key] = route
            return .success(depart(before, for: route, &state))
        }
        for departure in try result.get() { finish(departure) }
    }

    /// Closes a credential. What is in flight finishes; what waited comes back as `unsent(noCredential)`, as does every later push.
    package func remove(_ key: CredentialKey) {
        let departures = state.withLockedValue { depart($0.routes.removeValue(forKey: key), for: nil, &$0) }
        for departure in departures { finish(departure) }
    }

    /// What a credential's way to Apple looks like; nil if it is not open. The worse of its two environments.
    package func status(of key: CredentialKey) -> APNsStatus? {
        guard let route = state.withLockedValue({ $0.routes[key] }) else { return nil }
        let production = route.production.status
        return production.isReachable ? route.sandbox.status : production
    }

    /// What has been done since the start, and what is held now.
    package var metrics: APNsMetrics {
        let (sum, pools) = state.withLockedValue { ($0.departed, Array($0.pools.values) + $0.leaving.values) }
        return pools.reduce(into: sum) { $0 += $1.metrics }
    }

    // MARK: Sending

    package func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let (stream, continuation) = AsyncStream<[PushCompletion]>.makeStream()
        let job = SendJob(batch, deadline: .now + deadline, continuation: continuation)
        continuation.onTermination = { [weak self] reason in
            if case .cancelled = reason { self?.cancel(job, credential) }
        }
        for (environment, indices) in admitted(job) { enqueue(FairQueue.Run(job, indices), environment, credential) }
        return stream
    }

    /// Completes what `PushGuard` refuses, and parts the rest by environment.
    private func admitted(_ job: SendJob) -> [(PushEnvironment, [Int])] {
        var production: [Int] = []
        var sandbox: [Int] = []
        var refused: [PushCompletion] = []
        production.reserveCapacity(job.pushes.count)
        for (index, push) in job.pushes.enumerated() {
            if let rejection = PushGuard.refusal(of: push) {
                refused.append(PushCompletion(slot: push.slot, outcome: .rejected(rejection)))
            } else if push.environment == .production {
                production.append(index)
            } else {
                sandbox.append(index)
            }
        }
        if !refused.isEmpty {
            let limit = configuration.limits.maxCountedReasons
            state.withLockedValue { state in
                for completion in refused { state.departed.count(completion.outcome, reasonLimit: limit) }
            }
            job.complete(refused)
        }
        return [(.production, production), (.sandbox, sandbox)].filter { !$0.1.isEmpty }
    }

    private func enqueue(_ run: FairQueue.Run, _ environment: PushEnvironment, _ credential: CredentialKey) {
        // A pool that was retired between the look-up and the call has a successor; 8 in a row do not happen.
        for _ in 0..<8 {
            let (route, isShutDown) = state.withLockedValue { ($0.routes[credential], $0.isShutDown) }
            guard let route else {
                let error = isShutDown ? TransportError(.goingAway) : TransportError(.noCredential)
                return giveBack(run, .unsent(error))
            }
            if route.pool(environment).send(run) { return }
        }
        giveBack(run, .unsent(TransportError(.goingAway)))
    }

    private func giveBack(_ run: FairQueue.Run, _ outcome: Outcome) {
        state.withLockedValue { $0.departed.unsentCount += run.remaining.count }
        run.job.complete(run.remaining, outcome)
    }

    private func cancel(_ job: SendJob, _ credential: CredentialKey) {
        guard let route = state.withLockedValue({ $0.routes[credential] }) else { return }
        route.production.cancel(job)
        if route.sandbox !== route.production { route.sandbox.cancel(job) }
    }

    // MARK: Its life

    /// Does what waits: fetches provider tokens, and wakes pools at deadlines and after back-off. Returns after `shutdown`.
    ///
    /// Nothing is sent without it. Call it once; cancelling its task gives up everything in flight.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await item in work { group.addTask { await self.perform(item) } }
            group.cancelAll()
        }
        if !state.withLockedValue({ $0.isShutDown }) { await shutdown(deadline: .zero) }
    }

    /// Ends it: takes nothing new, gives back at once what waits, lets what is in flight finish until the deadline and breaks the rest off.
    ///
    /// Every push has completed when it returns.
    package func shutdown(deadline: Duration) async {
        let pools = state.withLockedValue { state in
            state.isShutDown = true
            state.routes.removeAll()
            let pools = Array(state.pools.values)
            for pool in pools { state.leaving[ObjectIdentifier(pool)] = pool }
            state.pools.removeAll()
            return pools
        }
        for pool in pools { for run in pool.retire() { giveBack(run, .unsent(TransportError(.goingAway))) } }
        await waitUntilEmpty(deadline)
        for pool in leavingPools { pool.abort() }
        // The loop answers an abort within one turn; a second is for a machine that is overloaded.
        await waitUntilEmpty(.seconds(1))
        for pool in leavingPools { pool.abandon() }
        workContinuation.finish()
        for loop in loops { loop.shutdown() }
    }

    private var leavingPools: [ConnectionPool] { state.withLockedValue { Array($0.leaving.values) } }

    private func waitUntilEmpty(_ limit: Duration) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let isEmpty = state.withLockedValue { state in
            if !state.leaving.isEmpty { state.whenEmpty.append(continuation) }
            return state.leaving.isEmpty
        }
        guard !isEmpty, limit > .zero else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            // Cancelled when the other one is done.
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func perform(_ item: PoolWork) async {
        switch item {
        case .obtainToken(let pool, let stale):
            do throws(APNsError) {
                pool.tokenArrived(.success(try await tokens.token(for: pool.signer, replacing: stale)))
            } catch {
                pool.tokenArrived(.failure(error))
            }
        case .wake(let pool, let time):
            // Cancelled at the end, when there is nothing left to wake.
            try? await Task.sleep(until: time, clock: .continuous)
            pool.wake()
        case .forget(let signer):
            await tokens.forget(signer)
        }
    }

    // MARK: Pools

    /// A pool on its way out, and who takes over what it has not sent.
    private struct Departure {
        let pool: ConnectionPool
        let successor: ConnectionPool?
        let isSignerUnused: Bool
    }

    private func context(for credential: APNsCredential) throws(APNsError) -> TLSContext {
        if let known = state.withLockedValue({ $0.contexts[credential.trustRootsPEM] }) { return known }
        let context = try credential.makeTLSContext()
        state.withLockedValue { state in
            if state.contexts.count >= Self.keptContextCount { state.contexts.removeAll() }
            state.contexts[credential.trustRootsPEM] = context
        }
        return context
    }

    /// The pool for one environment of a credential; inside the lock.
    private func pool(
        for credential: APNsCredential,
        _ environment: PushEnvironment,
        _ signer: ProviderTokenSigner,
        _ tls: TLSContext,
        _ state: inout State
    ) -> ConnectionPool {
        let endpoint = credential.endpoint ?? APNsEndpoint(environment)
        let key = ConnectionPool.Key(
            endpoint: endpoint,
            signer: signer.id,
            trustRootsPEM: credential.trustRootsPEM
        )
        if let known = state.pools[key] { return known }
        let loop = loops[state.openedPoolCount % loops.count]
        state.openedPoolCount += 1
        let pool = ConnectionPool(key: key, signer: signer, surroundings: surroundings(endpoint, tls, loop))
        state.pools[key] = pool
        return pool
    }

    private func surroundings(
        _ endpoint: APNsEndpoint,
        _ tls: TLSContext,
        _ loop: EventLoop
    ) -> ConnectionPool.Surroundings {
        var connection = ConnectionConfiguration(host: endpoint.host, port: endpoint.port, tls: tls)
        connection.collectedFields = APNsHeader.collected
        connection.initialStreamLimit = 1
        connection.limits = configuration.connectionLimits
        connection.timeouts = configuration.timeouts
        return ConnectionPool.Surroundings(
            limits: configuration.limits,
            configuration: connection,
            loop: loop,
            post: { [workContinuation] in workContinuation.yield($0) },
            ended: { [weak self] in self?.ended($0) }
        )
    }

    /// Takes the pools of a replaced route out of use, unless another credential shares them; inside the lock.
    private func depart(_ route: Route?, for successor: Route?, _ state: inout State) -> [Departure] {
        guard let route else { return [] }
        let candidates = [(route.production, successor?.production), (route.sandbox, successor?.sandbox)]
        return candidates.compactMap { pool, successor in
            let isUsed = state.routes.values.contains { $0.production === pool || $0.sandbox === pool }
            guard !isUsed, state.pools[pool.key] === pool else { return nil }
            state.pools[pool.key] = nil
            state.leaving[ObjectIdentifier(pool)] = pool
            let isSignerUsed = state.pools.keys.contains { $0.signer == pool.key.signer }
            return Departure(pool: pool, successor: successor, isSignerUnused: !isSignerUsed)
        }
    }

    /// Retires a pool and hands on what it had not sent; outside the lock.
    private func finish(_ departure: Departure) {
        for run in departure.pool.retire() {
            if departure.successor?.send(run) == true { continue }
            giveBack(run, .unsent(TransportError(departure.successor == nil ? .noCredential : .goingAway)))
        }
        if departure.isSignerUnused { workContinuation.yield(.forget(departure.pool.key.signer)) }
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
