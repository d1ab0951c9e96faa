package import Logging
package import Model
import NIOConcurrencyHelpers
import ServiceLifecycle
package import Tracing

/// Delivers messages: audience → slices → lease → send → outcome.
///
/// There is one per process, a `Service`. It starts with `run()`. A graceful shutdown drains it (I10): it makes no new claims, pushes in flight finish,
/// outcomes are written, and every lease is given back before the deadline. Cancellation stops it at once; its leases then expire.
///
/// Structure: `DeliveryMachine` decides for one slice, and `SliceRunner` performs these decisions in a task of its own. `EngineState`, behind the lock,
/// decides which slices the node accepts. One loop, `discover`, queries the database for due work; all other parts react to events.
package final class DeliveryEngine: Service {
    let store: any DeliveryStore
    let transports: [Platform: any PushTransport]
    /// Nil: there are no upstreams.
    let upstreams: (any UpstreamTransport)?
    /// The rules that slices of this node had, by version.
    let routes = RouteCache()
    let policy: EnginePolicy
    let node: NodeID
    /// The database's clock, corrected by this engine's heartbeats.
    package let clock: DatabaseClock
    /// The clock for sleeping.
    let timer: any Clock<Duration>
    let metrics = EngineMetrics()
    let logger: Logger
    let state: NIOLockedValueBox<EngineState>
    let payloads: PayloadWriter
    let identifiers: any IdentifierSource
    let random: @Sendable () -> Double
    /// Nil: nothing is traced.
    let tracer: (any Tracer)?
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - store: provides slices and stores outcomes.
    ///   - transports: the transport of each platform.
    ///   - upstreams: makes the calls to upstreams; nil: there are none.
    ///   - payloads: writes the payload of each target.
    ///   - identifiers: makes the `apns-id`.
    ///   - policy: limits and waits.
    ///   - node: the id of this process, new at every start.
    ///   - clock: shared with everything that needs the database's time.
    ///   - timer: the clock for sleeping.
    ///   - random: 0..<1, for jitter.
    ///   - tracer: makes the spans of pushes whose messages belong to sampled traces; nil: nothing is traced.
    ///   - logger: receives debug messages only.
    package init(
        store: any DeliveryStore,
        transports: [Platform: any PushTransport],
        upstreams: (any UpstreamTransport)? = nil,
        payloads: PayloadWriter,
        identifiers: any IdentifierSource,
        policy: EnginePolicy = EnginePolicy(),
        node: NodeID,
        clock: DatabaseClock = DatabaseClock(),
        timer: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        tracer: (any Tracer)? = nil,
        logger: Logger = Logger(label: "delivery")
    ) {
        self.store = store
        self.transports = transports
        self.upstreams = upstreams
        self.policy = policy
        self.node = node
        self.clock = clock
        self.timer = timer
        self.random = random
        self.tracer = tracer
        self.logger = logger
        self.identifiers = identifiers
        self.payloads = payloads
        state = NIOLockedValueBox(EngineState(policy: policy))
        // One pending signal is enough: each signal means "look again".
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Entry points

    /// Accepts leases that this node made at acceptance. Leases beyond the bound are given back to the store, so that any node can claim them.
    ///
    /// - Returns: the number of leases accepted.
    @discardableResult
    package func offer(_ leases: [SliceLease]) -> Int {
        let taken = state.withLockedValue { $0.offer(leases) }
        wake()
        return taken
    }

    /// Signals that there may be work: a notification arrived, or a slot is free.
    package func wake() { signal.yield() }

    /// Begins the orderly end of `run()`, as a graceful shutdown does.
    package func drain() {
        state.withLockedValue { $0.drain() }
        for transport in transports.values { transport.drain() }
        wake()
    }

    /// Ends the wait of a drain, which begins now if it has not begun: missing answers count as lost, and every slice is written and given back.
    package func hurry() {
        state.withLockedValue { $0.isHurried = true }
        drain()
    }

    /// The credential was replaced: earlier refusals do not apply to the new one, and the slices that waited for it become due.
    package func forget(_ key: CredentialKey) async {
        state.withLockedValue { $0.gate.forgive(key) }
        await resume(key)
    }

    /// The current state and the counts of the engine.
    package var statistics: EngineStatistics {
        state.withLockedValue { state in
            EngineStatistics(
                running: state.running.count,
                offered: state.offered.count,
                isDraining: state.isDraining,
                refusedCredentials: state.gate.refused,
                refusedTopics: state.gate.refusedTopics,
                doubtfulApps: state.tokens.stopped,
                totals: state.totals
            )
        }
    }

    // MARK: Service

    /// Works until a graceful shutdown is complete or the task is canceled.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await serve()
        } onGracefulShutdown: {
            self.drain()
        }
    }

    private func serve() async {
        guard await readClock() else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.every(self.policy.heartbeatInterval) { await self.beat() } }
            group.addTask { await self.every(self.policy.lease / 3) { await self.renew() } }
            group.addTask { await self.every(self.policy.flushInterval / 2) { self.tick() } }
            group.addTask { await self.every(self.policy.pollInterval) { self.wake() } }
            group.addTask { await self.every(self.policy.drawInterval) { await self.drawBudgets() } }
            wake()
            await discover(in: &group)
            await finishSlices()
            group.cancelAll()
        }
        // On cancellation the row stays until the other nodes find the heartbeat overdue.
        guard !Task.isCancelled else { return }
        do { try await store.leave(node) } catch { storeFailed("leave", error) }
    }

    private func every(_ interval: Duration, _ body: () async -> Void) async {
        while !Task.isCancelled {
            // At least one millisecond, so that a setting of zero does not cause a tight loop.
            do { try await timer.sleep(for: max(interval, .milliseconds(1))) } catch { return }
            await body()
        }
    }

    /// Reads the database's clock; no decision may use another clock. False: the engine was stopped before the database answered.
    private func readClock() async -> Bool {
        var failures = 0
        while !Task.isCancelled && !isDraining {
            if await beat() { return true }
            failures += 1
            try? await timer.sleep(for: min(policy.storeBackoff.delay(after: failures), policy.pollInterval * 5))
        }
        return false
    }

    @discardableResult
    private func beat() async -> Bool {
        let asked = clock.uptime
        do {
            let time = try await store.heartbeat(node)
            clock.adjust(databaseTime: time, asked: asked)
            return true
        } catch {
            storeFailed("heartbeat", error)
            return false
        }
    }

    @discardableResult
    private func renew() async -> Bool {
        let leases = state.withLockedValue { $0.leases }
        guard !leases.isEmpty else { return true }
        do {
            let kept = try await store.renew(leases, by: node, lease: policy.lease)
            state.withLockedValue { $0.renewed(leases, kept: kept) }
            return true
        } catch {
            storeFailed("renew", error)
            return false
        }
    }

    private func tick() {
        let (slices, targets) = state.withLockedValue { state in
            state.tick()
            return (state.running.count, state.shares.total)
        }
        metrics.setRunning(slices, targets: targets)
    }

    // MARK: Discovery

    /// Looks for work whenever a signal arrives, until the drain begins.
    private func discover(in group: inout DiscardingTaskGroup) async {
        var failures = 0
        var notBefore = Duration.zero
        var lapsedNotBefore = Duration.zero
        for await _ in signals {
            if isDraining { return }
            guard clock.uptime >= notBefore else { continue }
            // After an outage this node's leases may have expired. They are renewed before any node, including this one, claims them.
            let isWell = failures == 0 ? true : await renew()
            let withLapsed = clock.uptime >= lapsedNotBefore
            if isWell, await look(in: &group, withLapsed: withLapsed) {
                failures = 0
                if withLapsed { lapsedNotBefore = clock.uptime + min(policy.lapsedInterval, policy.lease / 6) }
            } else if !Task.isCancelled {
                failures += 1
                notBefore = clock.uptime + policy.storeBackoff.delay(after: failures, jitter: random())
            }
        }
    }

    /// Starts all available work, lane by lane, until nothing is left or no slot is free. False: a call to the store failed.
    private func look(in group: inout DiscardingTaskGroup, withLapsed: Bool) async -> Bool {
        do {
            await giveBack(state.withLockedValue { $0.takeRefused() })
            var isMore = true
            while isMore && !isDraining && !Task.isCancelled {
                isMore = false
                for lane in Lane.allCases {
                    startOffered(in: lane, &group)
                    if try await claim(in: lane, &group, withLapsed: withLapsed) { isMore = true }
                }
            }
            return true
        } catch {
            storeFailed("claim", error)
            return false
        }
    }

    private func startOffered(in lane: Lane, _ group: inout DiscardingTaskGroup) {
        while let lease = state.withLockedValue({ $0.nextOffered(in: lane, now: clock.now()) }) { start(lease, &group) }
    }

    /// Claims for each tenant with due work once. True: there may be more at once.
    private func claim(
        in lane: Lane,
        _ group: inout DiscardingTaskGroup,
        withLapsed: Bool
    ) async throws(StoreError) -> Bool {
        guard state.withLockedValue({ $0.shares.free(in: lane) }) > 0 else { return false }
        let due = try await store.dueTenants(in: lane, limit: policy.discoveryLimit, withLapsed: withLapsed)
        // A tenant without a free slot must not keep tenants waiting that have used their share of the round.
        let now = clock.now()
        let (able, round) = state.withLockedValue { state in
            let able = due.filter { state.quota(of: $0, in: lane, now: now) > 0 }
            return (able.count, state.turns.round(able, in: lane))
        }
        var isMore = round.count < able
        for tenant in round {
            let quota = state.withLockedValue { state in
                state.isDraining ? 0 : min(state.quota(of: tenant, in: lane, now: now), policy.claimLimit)
            }
            guard quota > 0 else { continue }
            let leases = try await store.claim(
                tenant: tenant,
                lane: lane,
                limit: quota,
                by: node,
                lease: policy.lease,
                withLapsed: withLapsed
            )
            let targets = leases.reduce(0) { $0 + max(1, $1.targets.count) }
            state.withLockedValue { $0.turns.served(tenant, targets, in: lane) }
            let lapsed = leases.count(where: \.followsLapse)
            if lapsed > 0 { metrics.add(lapsed, to: .leasesExpired) }
            for lease in leases { start(lease, &group) }
            if leases.count >= quota { isMore = true }
        }
        return isMore
    }

    private func start(_ lease: SliceLease, _ group: inout DiscardingTaskGroup) {
        guard state.withLockedValue({ $0.admit(lease) }) else { return }
        group.addTask { await self.work(on: lease) }
    }

    private func work(on first: SliceLease) async {
        var next: SliceLease? = first
        while let lease = next, !Task.isCancelled {
            let epoch: Int64
            switch lease.work {
            case .expand: epoch = await ExpansionRunner(lease: lease, engine: self).run()
            case .deliver:
                let runner = SliceRunner(lease, engine: self)
                state.withLockedValue { $0.listen(lease.key, runner.inbox) }
                epoch = await runner.run()
            }
            next = state.withLockedValue { $0.ended(lease.key, epoch: epoch) }
            if next == nil { await settle(lease.key) }
        }
        wake()
    }

    // MARK: Drain

    /// Waits until every slice is written and given back, or until the deadline.
    private func finishSlices() async {
        let begun = clock.uptime
        var gaveUp: Duration?
        for await _ in signals {
            await giveBack(state.withLockedValue { $0.takeRefused() })
            if state.withLockedValue({ $0.isIdle }) { return }
            let now = clock.uptime
            let isHurried = state.withLockedValue(\.isHurried)
            if gaveUp == nil && (isHurried || now - begun >= policy.drainDeadline) {
                gaveUp = now
                state.withLockedValue { $0.tell(.waitEnded) }
            }
            if let gaveUp, now - gaveUp >= policy.drainGrace { return }
        }
    }
}
