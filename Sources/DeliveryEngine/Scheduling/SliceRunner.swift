import Logging
import Model
import Tracing

/// Runs one `DeliveryMachine`; only this task uses it. The engine creates it for one lease, and it ends with the lease.
struct SliceRunner: Sendable {
    let lease: SliceLease
    let engine: DeliveryEngine
    private let events: AsyncStream<SliceEvent>
    let inbox: AsyncStream<SliceEvent>.Continuation

    init(_ lease: SliceLease, engine: DeliveryEngine) {
        self.lease = lease
        self.engine = engine
        // Unbounded, because a slice has at most 500 completions, one flush and a few events of the engine pending.
        (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
    }

    /// The facts about a machine that the engine keeps.
    struct Shown: Equatable {
        var open = OpenWork()
        var needsTicks = true
    }

    /// State that only the loop uses.
    private struct RunState {
        var machine: DeliveryMachine
        /// Credentials at which this slice holds a place.
        var held: Set<CredentialKey> = []
        /// Credentials that were stopped when this slice asked.
        var stopped: Set<CredentialKey> = []
        var isOver = false
        /// Calls to upstreams that have not ended.
        var openCalls = 0
        /// The facts that the engine was last shown.
        var shown = Shown()
    }

    /// Runs to the end and returns the last epoch. On cancellation it stops at once and the lease expires.
    func run() async -> Int64 {
        var loop = RunState(machine: DeliveryMachine(lease, settings: engine.machineSettings()))
        await withDiscardingTaskGroup { group in
            perform(loop.machine.started(), &loop, &group)
            for await event in events {
                if case .called = event { loop.openCalls -= 1 }
                perform(loop.machine.handle(event, now: engine.clock.now()), &loop, &group)
                show(Shown(open: loop.machine.openWork, needsTicks: loop.machine.needsTicks), &loop)
                if loop.isOver { break }
            }
            // If the slice was lost or given up with pushes in flight, the transport must not start further ones, and nobody waits for the answer of a call.
            // Otherwise verdicts and notes may still be in transit to the store, and are not canceled.
            if loop.machine.hasPushesOnTheirWay || loop.openCalls > 0 || !loop.isOver { group.cancelAll() }
        }
        show(Shown(), &loop)
        engine.leave(loop.held, lease)
        return loop.machine.lease.epoch
    }

    private func show(_ state: Shown, _ loop: inout RunState) {
        guard state != loop.shown else { return }
        engine.show(state, insteadOf: loop.shown, of: lease.key)
        loop.shown = state
    }

    private func perform(
        _ actions: [DeliveryMachine.Action],
        _ loop: inout RunState,
        _ group: inout DiscardingTaskGroup
    ) {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .load: group.addTask { await load() }
            case .ask(let route, let pushes):
                let isHolder = loop.held.contains(route.key)
                let permit = engine.enter(route, pushes: pushes, of: lease, isHolder: isHolder)
                if permit.isPlace { loop.held.insert(route.key) }
                if permit.isStopped { loop.stopped.insert(route.key) }
                let outage = permit.isStopped ? engine.outage(of: route) : .zero
                actions += loop.machine.permitted(route, permit, outage: outage, now: engine.clock.now())
            case .send(let number, let pushes, let platform, let key):
                var spans: PushSpans?
                if let tracer = engine.tracer, let trace = loop.machine.work?.trace {
                    spans = self.spans(pushes, over: platform, in: trace, by: tracer)
                }
                group.addTask { [spans] in await send(number, pushes, over: platform, through: key, spans) }
            case .call(let number, let order, let key):
                loop.openCalls += 1
                group.addTask {
                    let end = await call(order, through: key)
                    inbox.yield(.called(number, end))
                }
            case .judge(let route, let sign):
                for change in engine.observed(route, sign) { group.addTask { await engine.note(route.key, change) } }
            case .condemn(let verdicts, let answers):
                let app = loop.machine.work?.app ?? ""
                let allowed = engine.judge(verdicts, among: answers, tenant: lease.key.tenant, app: app)
                if !allowed.isEmpty { group.addTask { await engine.condemn(allowed, tenant: lease.key.tenant) } }
            case .record(let progress):
                let stopped = loop.stopped
                group.addTask { await record(progress, stopped) }
            case .release: group.addTask { await engine.giveBack([lease]) }
            case .finish: loop.isOver = true
            }
        }
    }

    private func load() async {
        do {
            var work = try await engine.store.load(lease)
            if work?.isRouted ?? false {
                guard try await engine.route(&work, of: lease) else {
                    // If this node has claimed the slice again, its work is read again.
                    inbox.yield(.fenced(epoch: lease.epoch))
                    inbox.yield(.loadFailed(isFault: false))
                    return
                }
            }
            if work?.isDuplicate ?? false {
                guard try await engine.compare(&work, of: lease) else {
                    inbox.yield(.fenced(epoch: lease.epoch))
                    inbox.yield(.loadFailed(isFault: false))
                    return
                }
            }
            inbox.yield(.loaded(work))
        } catch {
            engine.storeFailed("load", error)
            inbox.yield(.loadFailed(isFault: !error.isRetriable))
        }
    }

    @inline(never)
    private func spans(
        _ pushes: [Push],
        over platform: Platform,
        in trace: TraceContext,
        by tracer: any Tracer
    ) -> PushSpans? {
        guard let transport = engine.transports[platform] else { return nil }
        return PushSpans(pushes, of: lease, in: trace, over: transport.name, by: tracer)
    }

    private func send(
        _ number: Int,
        _ pushes: [Push],
        over platform: Platform,
        through key: CredentialKey,
        _ spans: PushSpans?
    ) async {
        var spans = spans
        if let transport = engine.transports[platform] {
            let answers = transport.send(pushes, through: key, deadline: engine.policy.pushDeadline)
            for await batch in answers {
                engine.count(batch, over: transport.name)
                spans?.completed(batch)
                inbox.yield(.completed(batch))
            }
        }
        spans?.ended()
        inbox.yield(.sendEnded(number))
    }

    /// Records the call, and then makes it. If it is unknown whether the record was written, the call is not made.
    private func call(_ order: UpstreamOrder, through key: CredentialKey) async -> UpstreamEnd {
        guard let upstreams = engine.upstreams else { return unsent(order, .noCredential) }
        switch await begin(order) {
        case .begun?:
            // The slice was lost meanwhile.
            if Task.isCancelled { return unsent(order, .canceled) }
            let result = await upstreams.call(order.call, through: key)
            engine.count(result.outcomes.map { PushCompletion(slot: 0, outcome: $0) }, over: Self.upstreamLabel)
            return .ended(result)
        case .taken(let same, let withheld, let busy)?: return .taken(same, withheld: withheld, busy: busy)
        case .fenced?:
            inbox.yield(.fenced(epoch: order.id.epoch))
            return unsent(order, .canceled)
        case nil: return .unrecorded
        }
    }

    /// The label of all upstreams in metrics.
    private static let upstreamLabel = "upstream"

    private func begin(_ order: UpstreamOrder) async -> UpstreamStart? {
        for attempt in 1...engine.policy.beginAttempts {
            do { return try await engine.store.begin(order, of: lease, by: engine.node) } catch {
                engine.storeFailed("begin", error)
                guard !Task.isCancelled, attempt < engine.policy.beginAttempts else { return nil }
                try? await engine.timer.sleep(for: engine.policy.storeBackoff.delay(after: attempt))
            }
        }
        return nil
    }

    private func unsent(_ order: UpstreamOrder, _ code: TransportError.Code) -> UpstreamEnd {
        .ended(UpstreamResult(.unsent(TransportError(code, "the call was not made")), for: order.call))
    }

    private func record(_ progress: SliceProgress, _ stopped: Set<CredentialKey>) async {
        var progress = progress
        if progress.disposition == .finished { progress.settles = !engine.holdsOthers(than: lease.key) }
        do {
            let result = try await engine.store.record(progress, by: engine.node)
            engine.count(progress, result)
            if result != .fenced, progress.disposition == .finished, !progress.settles {
                engine.leftUnsettled(lease.key)
            }
            inbox.yield(.recorded(result))
            for credential in progress.holders {
                // The credential recovered between the answer that stopped it and this flush, so its recovery did not find the mark of this slice.
                let key = CredentialKey(tenant: lease.key.tenant, credential: credential)
                if stopped.contains(key) && !engine.isStopped(key) { await engine.resume(key) }
            }
        } catch {
            engine.storeFailed("record", error)
            inbox.yield(.recordFailed)
        }
    }
}
