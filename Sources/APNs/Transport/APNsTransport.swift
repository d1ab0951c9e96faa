internal import ApplePayload
package import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Sends pushes to Apple: the `PushTransport` named `apns`.
///
/// The gateway creates it once per process, runs `run` as long as it sends, and ends it with `shutdown`. Credentials are opened and removed while it runs. It
/// dials when the first push of a credential comes, unless it keeps connections warm. Callers: any thread.
///
/// The caller limits the pushes in flight; pushes that the connections do not take wait here, up to `APNsLimits.maxQueuedPushes` per pool.
package final class APNsTransport: PushTransport {
    /// The settings of the transport.
    package struct Configuration: Sendable {
        package var limits = APNsLimits()
        package var connectionLimits = HTTP2Limits()
        package var timeouts = HTTP2Timeouts()
        /// Threads for connections. One carries well over 100,000 pushes per second (measured).
        package var loopCount = 1

        package init() {}
    }

    struct State {
        var routes: [CredentialKey: APNsRoute] = [:]
        /// Pools that a credential uses.
        var pools: [PoolKey: ConnectionPool] = [:]
        /// Pools that are finishing their requests.
        var leaving: [ObjectIdentifier: ConnectionPool] = [:]
        /// TLS settings of credentials with a key, by trust roots. Loading the system's roots takes milliseconds and a megabyte, and most credentials share
        /// them.
        var contexts: [[UInt8]?: TLSContext] = [:]
        /// Clients for channels that were asked for.
        var channels: [ChannelKey: Channels] = [:]
        var openedPoolCount = 0
        var isShutDown = false
        /// Tasks that wait until the last leaving pool has ended.
        var whenEmpty: [AsyncStream<Void>.Continuation] = []
    }

    package let name = "apns"
    let configuration: Configuration
    let tokens: ProviderTokenCache
    let loops: [EventLoop]
    let state = NIOLockedValueBox(State())
    /// Look-ups and timers. There are a few of each per pool, so the stream needs no limit.
    let work: AsyncStream<PoolWork>
    let workContinuation: AsyncStream<PoolWork>.Continuation

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - configuration: limits and deadlines.
    ///   - tokens: the source of provider tokens: `SelfSignedTokens` on one node, a shared store on several.
    /// - Throws: `system` if a thread cannot be created.
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

    /// Completes the pushes that are refused here, and passes the others to the pools of their environments.
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
        if !refused.isEmpty { job.complete(refused) }
        return (production, sandbox)
    }

    private func enqueue(
        _ run: FairQueue.Run,
        _ environment: PushEnvironment,
        _ credential: CredentialKey,
        _ first: (route: APNsRoute?, isShutDown: Bool)
    ) {
        var found = first
        // A pool that was retired between the look-up and the call has a successor. 8 such successions during one call do not happen.
        for _ in 0..<8 {
            guard let pool = found.route?.pool(environment) else {
                let error = found.isShutDown ? TransportError(.goingAway) : TransportError(.noCredential)
                return run.job.complete(run.remaining, .unsent(error))
            }
            if pool.send(run) { return }
            found = route(of: credential)
        }
        run.job.complete(run.remaining, .unsent(TransportError(.goingAway)))
    }

    /// The caller of a batch no longer waits.
    func cancel(_ job: SendJob, _ credential: CredentialKey) {
        let route = state.withLockedValue { $0.routes[credential] }
        for pool in route?.pools ?? [] { pool.cancel(job) }
    }

    // MARK: Life cycle

    /// Performs the work that waits: it fetches provider tokens, and wakes pools at deadlines and after back-off. It returns after `shutdown`.
    ///
    /// Nothing is sent without it. Call it once; cancelling its task abandons everything in flight.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await item in work { group.addTask { await self.perform(item) } }
            group.cancelAll()
        }
        if !state.withLockedValue({ $0.isShutDown }) { await shutdown(deadline: .zero) }
    }

    /// Shuts the transport down. It accepts nothing new, gives back waiting pushes at once, lets pushes in flight finish until the deadline and aborts the
    /// others.
    ///
    /// Every push has completed when it returns.
    package func shutdown(deadline: Duration) async {
        drain()
        await waitUntilEmpty(deadline)
        for pool in leavingPools { pool.abort() }
        // The loop reacts to an abort within one turn; a second is for an overloaded machine.
        await waitUntilEmpty(.seconds(1))
        for pool in leavingPools { pool.abandon() }
        workContinuation.finish()
        for loop in loops { loop.shutdown() }
    }

    /// The first part of `shutdown`: gives back waiting pushes at once. An engine calls it before it waits for answers, because a queued push must go to the
    /// next node instead of being treated as one whose answer is lost.
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
        for pool in pools {
            for run in pool.retire() { run.job.complete(run.remaining, .unsent(TransportError(.goingAway))) }
        }
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
            // Cancelled when the other task is done.
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
            // Cancelled at the end, when nothing needs to be woken.
            try? await Task.sleep(until: time, clock: .continuous)
            pool.wake()
        case .forget(let signer):
            await tokens.forget(signer)
        }
    }
}
