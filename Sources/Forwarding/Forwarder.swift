package import Model
import ServiceLifecycle

/// Makes the calls that wait for upstreams, in the order of their queues, until they are answered.
///
/// Runs until its service group shuts down; then it begins no further calls and ends with the last one. Several nodes may each run one: leases keep them
/// apart. A crash repeats at most the calls whose answers were not recorded, one of each queue.
package struct Forwarder<Timer: Clock>: Service where Timer.Duration == Duration {
    private let store: any ForwardStore
    private let caller: any ForwardCaller
    private let node: NodeID
    private let policy: ForwardPolicy
    private let clock: Timer
    private let observe: @Sendable (ForwardEvent) -> Void

    /// - Parameters:
    ///   - store: the waiting calls.
    ///   - caller: makes the calls.
    ///   - node: the owner of the leases.
    ///   - policy: how calls are made and repeated.
    ///   - clock: the clock for waits.
    ///   - observe: receives events; must not block.
    package init(
        store: any ForwardStore,
        caller: any ForwardCaller,
        node: NodeID,
        policy: ForwardPolicy = ForwardPolicy(),
        clock: Timer,
        observe: @escaping @Sendable (ForwardEvent) -> Void = { _ in }
    ) {
        self.store = store
        self.caller = caller
        self.node = node
        self.policy = policy
        self.clock = clock
        self.observe = observe
    }

    package func run() async throws {
        // The machine bounds what is in progress, so that the stream holds few events.
        let (events, event) = AsyncStream.makeStream(of: ForwardingMachine.Event.self)
        let started = clock.now
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await look(event) }
                group.addTask { await survey() }
                var machine = ForwardingMachine(policy)
                for await next in events {
                    for action in machine.handle(next, at: started.duration(to: clock.now)) {
                        group.addTask { await perform(action, event) }
                    }
                    if machine.hasEnded { break }
                }
            }
        } onGracefulShutdown: {
            event.yield(.drain)
        }
    }

    /// Looks for due queues at every interval until shutdown.
    private func look(_ event: AsyncStream<ForwardingMachine.Event>.Continuation) async {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do throws(StoreError) {
                    event.yield(.due(try await store.due()))
                } catch {
                    if !Task.isCancelled { observe(.storeFailed(error)) }
                }
                try await clock.sleep(for: policy.interval)
            }
        }
    }

    /// Counts the waiting calls at every period until shutdown.
    private func survey() async {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do throws(StoreError) {
                    observe(.counted(try await store.survey(limit: policy.waitingLimit, age: policy.surveyPeriod)))
                } catch {
                    if !Task.isCancelled { observe(.storeFailed(error)) }
                }
                try await clock.sleep(for: policy.surveyPeriod)
            }
        }
    }

    private func perform(
        _ action: ForwardingMachine.Action,
        _ event: AsyncStream<ForwardingMachine.Event>.Continuation
    ) async {
        switch action {
        case .claim(let upstream, let limit):
            event.yield(.claimed(upstream, limit: limit, await claim(upstream, limit)))
        case .call(let lease):
            var verdict = await caller.call(lease)
            // Cancellation of this node is not a failure of the upstream.
            if case .failed = verdict, Task.isCancelled { verdict = .canceled }
            observe(.answered(lease, verdict))
            event.yield(.answered(lease, verdict))
        case .settle(let lease): event.yield(.settled(lease, await settle(lease)))
        case .postpone(let lease, let delay, let reason, let counts):
            await postpone(lease, delay, reason, counts)
            event.yield(.returned(lease))
        case .release(let lease):
            do throws(StoreError) { try await store.release(lease, node: node) } catch { observe(.storeFailed(error)) }
            event.yield(.returned(lease))
        case .resume(let upstream):
            do throws(StoreError) { try await store.resume(upstream) } catch { observe(.storeFailed(error)) }
        }
    }

    private func claim(_ upstream: CredentialKey, _ limit: Int) async -> [ForwardLease] {
        do throws(StoreError) {
            return try await store.claim(upstream, limit: limit, by: node, lease: policy.lease)
        } catch {
            observe(.storeFailed(error))
            return []
        }
    }

    private func settle(_ lease: ForwardLease) async -> ForwardStep {
        do throws(StoreError) {
            let step = try await store.settle(lease, by: node, for: policy.lease)
            if step == .lost { observe(.leaseLost(lease)) }
            return step
        } catch {
            observe(.storeFailed(error))
            return .lost
        }
    }

    private func postpone(_ lease: ForwardLease, _ delay: Duration, _ reason: String, _ counts: Bool) async {
        do throws(StoreError) {
            let isOurs = try await store.postpone(lease, by: delay, reason: reason, counts: counts, node: node)
            if !isOurs { observe(.leaseLost(lease)) }
        } catch {
            observe(.storeFailed(error))
        }
    }
}
