internal import ApplePayload
package import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Sends pushes to Apple: the `PushTransport` named `apns`.
///
/// Made once per process by the gateway, which also runs `run` for as long as it sends, and ends it with `shutdown`. Credentials come and
/// go while it runs. It dials when the first push of a credential comes, unless it keeps connections warm; any thread may call it.
///
/// The caller bounds how much it has in flight; what the connections do not take waits here, up to `APNsLimits.maxQueuedPushes` per pool.
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

    struct State {
        var routes: [CredentialKey: APNsRoute] = [:]
        /// Pools that some credential uses.
        var pools: [PoolKey: ConnectionPool] = [:]
        /// Pools that finish what they have.
        var leaving: [ObjectIdentifier: ConnectionPool] = [:]
        /// What pools that are gone have counted, and what was refused before it reached one.
        var departed = APNsMetrics()
        /// TLS settings of credentials with a key, by trust roots: reading the system's takes milliseconds and a megabyte, and most share them.
        var contexts: [[UInt8]?: TLSContext] = [:]
        /// Clients for channels that were asked for.
        var channels: [ChannelKey: Channels] = [:]
        var openedPoolCount = 0
        var isShutDown = false
        /// Who waits until the last leaving pool has gone.
        var whenEmpty: [AsyncStream<Void>.Continuation] = []
    }

    package let name = "apns"
    let configuration: Configuration
    let tokens: ProviderTokenCache
    let loops: [EventLoop]
    let state = NIOLockedValueBox(State())
    /// Look-ups and timers: a few of each per pool, so it needs no bound of its own.
    let work: AsyncStream<PoolWork>
    let workContinuation: AsyncStream<PoolWork>.Continuation

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
        let (work, workContinuation) = AsyncStream<PoolWork>.makeStream()
        self.work = work
        self.workContinuation = workContinuation
    }

    // MARK: Sending

    package func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let (stream, continuation) = AsyncStream<[PushCompletion]>.makeStream()
        let now = ContinuousClock.now
        let job = SendJob(
            batch,
            client: credential.tenant,
            offeredAt: now,
            deadline: now + deadline,
            completions: continuation
        )
        continuation.onTermination = { [weak self] reason in
            if case .cancelled = reason { self?.cancel(job, credential) }
        }
        offer(job, credential)
        return stream
    }

    /// Completes what is refused here, and gives the rest to the pools of its environments.
    func offer(_ job: SendJob, _ credential: CredentialKey) {
        let found = route(of: credential)
        let (production, sandbox) = admitted(job, found.route)
        if !production.isEmpty { enqueue(FairQueue.Run(job, production), .production, credential, found) }
        if !sandbox.isEmpty { enqueue(FairQueue.Run(job, sandbox), .sandbox, credential, found) }
    }

    private func route(of credential: CredentialKey) -> (route: APNsRoute?, isShutDown: Bool) {
        state.withLockedValue { ($0.routes[credential], $0.isShutDown) }
    }

    private func admitted(_ job: SendJob, _ route: APNsRoute?) -> (production: [Int], sandbox: [Int]) {
        var identity: TLSIdentity?
        if case .certificate(let shown) = route?.credential.proof { identity = shown }
        var production: [Int] = []
        var sandbox: [Int] = []
        var refused: [PushCompletion] = []
        production.reserveCapacity(job.pushes.count)
        var pushGuard = PushGuard()
        let batch = job.pushes
        let pushes = batch.span
        for index in pushes.indices {
            var rejection = pushGuard.fault(in: pushes, at: index)?.rejection
            if rejection == nil, let identity { rejection = APNsRoute.refusal(of: pushes[index], by: identity) }
            if let rejection {
                refused.append(PushCompletion(slot: pushes[index].slot, outcome: .rejected(rejection)))
            } else if pushes[index].environment == .production {
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
        return (production, sandbox)
    }

    private func enqueue(
        _ run: FairQueue.Run,
        _ environment: PushEnvironment,
        _ credential: CredentialKey,
        _ first: (route: APNsRoute?, isShutDown: Bool)
    ) {
        var found = first
        // A pool that was retired between the look-up and the call has a successor; 8 in a row do not happen.
        for _ in 0..<8 {
            guard let pool = found.route?.pool(environment) else {
                let error = found.isShutDown ? TransportError(.goingAway) : TransportError(.noCredential)
                return giveBack(run, .unsent(error))
            }
            if pool.send(run) { return }
            found = route(of: credential)
        }
        giveBack(run, .unsent(TransportError(.goingAway)))
    }

    func giveBack(_ run: FairQueue.Run, _ outcome: Outcome) {
        state.withLockedValue { $0.departed.unsentCount += run.remaining.count }
        run.job.complete(run.remaining, outcome)
    }

    /// The caller of a batch has gone.
    func cancel(_ job: SendJob, _ credential: CredentialKey) {
        let route = state.withLockedValue { $0.routes[credential] }
        for pool in route?.pools ?? [] { pool.cancel(job) }
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
        drain()
        await waitUntilEmpty(deadline)
        for pool in leavingPools { pool.abort() }
        // The loop answers an abort within one turn; a second is for a machine that is overloaded.
        await waitUntilEmpty(.seconds(1))
        for pool in leavingPools { pool.abandon() }
        workContinuation.finish()
        for loop in loops { loop.shutdown() }
    }

    /// The first part of `shutdown`: gives back at once what waits. An engine calls it before it waits for answers, because a push in a queue
    /// must go to the next node, not be taken for one whose answer is lost.
    package func drain() {
        let pools = state.withLockedValue { state in
            state.isShutDown = true
            state.routes.removeAll()
            let pools = Array(state.pools.values)
            for pool in pools { state.leaving[ObjectIdentifier(pool)] = pool }
            state.pools.removeAll()
            return pools
        }
        closeChannels()
        for pool in pools { for run in pool.retire() { giveBack(run, .unsent(TransportError(.goingAway))) } }
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
        case .obtainToken(let pool, let signer, let stale):
            do throws(APNsError) {
                pool.tokenArrived(.success(try await tokens.token(for: signer, replacing: stale)))
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
}
