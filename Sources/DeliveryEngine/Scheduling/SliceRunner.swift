import Logging
import Model

/// Performs one `DeliveryMachine`: the only task that touches it. Made by the engine for one lease, ends with it.
struct SliceRunner: Sendable {
    let lease: SliceLease
    let engine: DeliveryEngine
    private let events: AsyncStream<SliceEvent>
    let inbox: AsyncStream<SliceEvent>.Continuation

    init(_ lease: SliceLease, engine: DeliveryEngine) {
        self.lease = lease
        self.engine = engine
        // Without a bound of its own: a slice has at most 500 completions, one flush and a few words of the engine under way.
        (events, inbox) = AsyncStream.makeStream(of: SliceEvent.self)
    }

    /// What belongs to the loop and to nobody else.
    private struct Loop {
        var machine: DeliveryMachine
        /// Credentials in which this slice holds a place.
        var held: Set<CredentialKey> = []
        /// Credentials that were stopped when this slice asked.
        var stopped: Set<CredentialKey> = []
        var isOver = false
    }

    /// Runs to the end and returns the epoch it ended with. On cancellation it stops where it is: the lease lapses.
    func run() async -> Int64 {
        var loop = Loop(machine: DeliveryMachine(lease, settings: engine.machineSettings()))
        await withDiscardingTaskGroup { group in
            perform(loop.machine.started(), &loop, &group)
            for await event in events {
                perform(loop.machine.handle(event, now: engine.clock.now()), &loop, &group)
                if loop.isOver { break }
            }
            // Lost or given up with pushes under way: what the transport has not begun must not begin. Else verdicts and notes may
            // still be on their way to the store.
            if loop.machine.hasPushesOnTheirWay || !loop.isOver { group.cancelAll() }
        }
        engine.leave(loop.held, lane: lease.lane)
        return loop.machine.lease.epoch
    }

    private func perform(
        _ actions: [DeliveryMachine.Action],
        _ loop: inout Loop,
        _ group: inout DiscardingTaskGroup
    ) {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .load: group.addTask { await load() }
            case .ask(let key, let pushes):
                let isHolder = loop.held.contains(key)
                let permit = engine.enter(key, pushes: pushes, lane: lease.lane, isHolder: isHolder)
                if permit.isPlace { loop.held.insert(key) }
                if permit.isStopped { loop.stopped.insert(key) }
                actions += loop.machine.permitted(key, permit, now: engine.clock.now())
            case .send(let number, let pushes, let platform, let key):
                group.addTask { await send(number, pushes, over: platform, through: key) }
            case .judge(let key, let sign):
                if let change = engine.observed(key, sign) { group.addTask { await engine.note(key, change) } }
            case .condemn(let verdicts, let answered):
                let app = loop.machine.work?.app ?? ""
                let allowed = engine.judge(verdicts, among: answered, tenant: lease.key.tenant, app: app)
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
            inbox.yield(.loaded(try await engine.store.load(lease)))
        } catch {
            engine.storeFailed("load", error)
            inbox.yield(.loadFailed)
        }
    }

    private func send(_ number: Int, _ pushes: [Push], over platform: Platform, through key: CredentialKey) async {
        if let transport = engine.transports[platform] {
            let answers = transport.send(pushes, through: key, deadline: engine.policy.pushDeadline)
            for await batch in answers {
                engine.count(batch, over: transport.name)
                inbox.yield(.completed(batch))
            }
        }
        inbox.yield(.sendEnded(number))
    }

    private func record(_ progress: SliceProgress, _ stopped: Set<CredentialKey>) async {
        do {
            let result = try await engine.store.record(progress, by: engine.node)
            engine.count(progress, result)
            inbox.yield(.recorded(result))
            guard case .again(_, let credential?) = progress.disposition else { return }
            // Mended between the answer that stopped it and this flush: the mark came too late for whoever mended it.
            let key = CredentialKey(tenant: lease.key.tenant, credential: credential)
            if stopped.contains(key) && !engine.isStopped(key) { await engine.resume(key) }
        } catch {
            engine.storeFailed("record", error)
            inbox.yield(.recordFailed)
        }
    }
}
