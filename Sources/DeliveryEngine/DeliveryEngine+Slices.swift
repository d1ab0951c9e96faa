import Logging
package import Model
import NIOConcurrencyHelpers

/// The functions of the engine that its slices call.
extension DeliveryEngine {
    /// Whether the engine accepts no new work.
    package var isDraining: Bool { state.withLockedValue { $0.isDraining } }

    /// The settings of a new machine.
    func machineSettings() -> DeliveryMachine.Settings {
        DeliveryMachine.Settings(
            policy: policy,
            payloads: payloads,
            identifiers: identifiers,
            transports: transports.mapValues(\.name),
            jitter: random()
        )
    }

    // MARK: Credentials and tokens

    /// Whether the slice may send `pushes` over `route`, or how many of them.
    func enter(_ route: PushRoute, pushes: Int, of lease: SliceLease, isHolder: Bool) -> Permit {
        let now = clock.now()
        let key = route.key
        let lane = lease.lane
        let targets = lease.targets.count
        return state.withLockedValue { state in
            let capacity = state.meter.capacity(of: key)
            let permit = state.gate.enter(
                route,
                lane: lane,
                targets: targets,
                isHolder: isHolder,
                capacity: capacity,
                now: now
            )
            guard permit == .go, let count = state.meter.take(pushes, key, lane, now: now) else { return permit }
            return count >= pushes ? .go : .metered(count)
        }
    }

    /// How long the credential of `route` has been out of order; nil: its peer refuses it.
    func outage(of route: PushRoute) -> Duration? {
        let now = clock.now()
        return state.withLockedValue { $0.gate.outage(of: route, now: now) }
    }

    /// Replaces all rates.
    package func limit(_ limits: [CredentialKey: [PushRate]]) {
        state.withLockedValue { $0.meter.limit(limits) }
    }

    /// Draws from the cluster's budgets the pushes that slices wait for. After a failure the slices ask again.
    func drawBudgets() async {
        let draws = state.withLockedValue { $0.meter.draws() }
        guard !draws.isEmpty else { return }
        do {
            let counts = try await store.draw(draws)
            let now = clock.now()
            state.withLockedValue { state in
                for (draw, count) in zip(draws, counts) { state.meter.granted(count, draw.key, now: now) }
                state.tick()
            }
        } catch {
            storeFailed("draw", error)
        }
    }

    func leave(_ keys: Set<CredentialKey>, _ lease: SliceLease) {
        state.withLockedValue { state in
            for key in keys { state.gate.leave(key, lane: lease.lane, targets: lease.targets.count) }
        }
    }

    func observed(_ route: PushRoute, _ sign: CredentialSign) -> [CredentialGate.Change] {
        let now = clock.now()
        return state.withLockedValue { $0.gate.observed(route, sign, now: now) }
    }

    func isStopped(_ key: CredentialKey) -> Bool { state.withLockedValue { $0.gate.isStopped(key) } }

    /// Makes waiting slices due again, and records refusals and recoveries in the store, for `doctor` and `/readyz`.
    func note(_ key: CredentialKey, _ change: CredentialGate.Change) async {
        let text: Logger.Message =
            switch (change.change, change.topic) {
            case (.stopped, nil): "A credential was refused and is stopped"
            case (.stopped, _): "A topic was refused and is stopped"
            case (.recovered, nil): "A credential works again"
            case (.recovered, _), (.reachable, .some): "A topic is accepted again"
            case (.reachable, nil): "The peer of a credential answers again"
            }
        // A credential works again, and one of its topics may still be refused.
        let refusal = state.withLockedValue { $0.gate.refusal(of: key) }
        logger.note(
            text,
            [
                .tenant: "\(key.tenant)", .credential: "\(key.credential)", .topic: change.topic ?? "",
                .reason: refusal?.reason ?? "",
            ]
        )
        if change.change != .reachable {
            do { try await store.noteCredential(key, refusal: refusal) } catch { storeFailed("noteCredential", error) }
        }
        if case .stopped = change.change { return }
        await resume(key)
    }

    /// Makes the slices due that were put back because of the credential. After a failure they become due when their wait ends.
    func resume(_ key: CredentialKey) async {
        do { try await store.resume(key) } catch { return storeFailed("resume", error) }
        wake()
    }

    /// The verdicts that may be applied. While an unusual share of an app's tokens fails, doubtful tokens are kept (`TokenQuality`).
    func judge(
        _ verdicts: [TokenVerdict],
        among answers: TokenAnswers,
        tenant: TenantID,
        app: AppID
    ) -> [TokenVerdict] {
        let allowed = state.withLockedValue {
            $0.tokens.judge(verdicts, among: answers, of: .init(tenant: tenant, app: app))
        }
        if allowed.count < verdicts.count { metrics.add(verdicts.count - allowed.count, to: .spared) }
        return allowed
    }

    /// Applies verdicts on tokens. After a failure the next push to the token gives the same verdict.
    func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async {
        do { try await store.condemn(verdicts, tenant: tenant) } catch { return storeFailed("condemn", error) }
        var counts: [[String]: Int] = [:]
        for verdict in verdicts { counts[verdict.labels, default: 0] += 1 }
        for (labels, count) in counts {
            metrics.add(count, to: .condemned, ("state", labels[0]), ("reason", labels[1]))
        }
    }

    // MARK: Leases

    /// Whether this node holds a slice of the same message other than `key`.
    func holdsOthers(than key: SliceKey) -> Bool { state.withLockedValue { $0.holdsOthers(than: key) } }

    /// The slice was finished without ending its message.
    func leftUnsettled(_ key: SliceKey) { state.withLockedValue { $0.leftUnsettled(key) } }

    /// Ends the message of a slice whose task has ended, if slices of it were finished without doing so. Maintenance ends what this node leaves.
    func settle(_ key: SliceKey) async {
        guard state.withLockedValue({ $0.beginSettling(key) }) else { return }
        var failures = 0
        while true {
            do {
                try await store.settle(key.message, tenant: key.tenant)
                break
            } catch {
                storeFailed("settle", error)
                failures += 1
                guard !isDraining, !Task.isCancelled else { break }
                try? await timer.sleep(for: policy.storeBackoff.delay(after: failures))
            }
        }
        state.withLockedValue { $0.settled() }
    }

    /// Gives leases back at once. After a failure they expire.
    func giveBack(_ leases: [SliceLease]) async {
        guard !leases.isEmpty else { return }
        do { try await store.release(leases, by: node) } catch { storeFailed("release", error) }
    }

    // MARK: Counting

    /// The open work of one slice has changed, or whether it needs ticks.
    func show(_ new: SliceRunner.Shown, insteadOf old: SliceRunner.Shown, of key: SliceKey) {
        state.withLockedValue { state in
            state.openWork.pushes += new.open.pushes - old.open.pushes
            state.openWork.results += new.open.results - old.open.results
            if new.needsTicks != old.needsTicks { state.listen(key, toTicks: new.needsTicks) }
        }
    }

    /// Sets the gauges that are read at each scrape.
    package func refreshMetrics() {
        metrics.setOpen(state.withLockedValue(\.openWork))
    }

    func storeFailed(_ call: String, _ error: StoreError) {
        state.withLockedValue { $0.totals.storeFailures += 1 }
        metrics.add(1, to: .storeFailures, ("call", call))
        logger.note("A call to the store failed", [.call: call, .error: "\(error)"])
    }

    func count(_ batch: [PushCompletion], over transport: String) {
        var counts: [String: Int] = [:]
        for completion in batch { counts[completion.outcome.label, default: 0] += 1 }
        for (outcome, count) in counts {
            metrics.add(count, to: .pushes, ("transport", transport), ("outcome", outcome))
        }
        state.withLockedValue { state in
            for completion in batch { state.totals.add(completion.outcome) }
        }
    }

    func count(_ progress: SliceProgress, _ result: RecordResult) {
        switch result {
        case .fenced:
            metrics.add(1, to: .fenced)
            state.withLockedValue { $0.totals.fenced += 1 }
            logger.note(
                "Another node took over a slice",
                [.tenant: "\(progress.lease.key.tenant)", .slice: "\(progress.lease.key.number)"]
            )
        case .recorded(let new):
            for case .dead(let reason) in [progress.disposition] + progress.retries.map(\.disposition) {
                metrics.add(1, to: .dead)
                state.withLockedValue { $0.totals.dead += 1 }
                logger.note(
                    "A slice gave up",
                    [
                        .tenant: "\(progress.lease.key.tenant)", .message: "\(progress.lease.key.message)",
                        .slice: "\(progress.lease.key.number)", .reason: reason,
                    ]
                )
            }
            // Counted here and added once, because most results of a flush have the same labels.
            var counts: [[String]: Int] = [:]
            for result in progress.results {
                counts[[result.state.rawValue, EngineMetrics.label(of: result.reason)], default: 0] += 1
            }
            for (labels, count) in counts {
                let (state, reason) = (("state", labels[0]), ("reason", labels[1]))
                metrics.add(count, to: .deliveries, ("vendor", progress.vendor.rawValue), state, reason)
            }
            state.withLockedValue { state in
                state.totals.recorded += new
                for result in progress.results { state.totals.settled[result.state, default: 0] += 1 }
            }
        }
    }
}

extension TokenVerdict {
    /// The new state of the token and the reason, as labels.
    fileprivate var labels: [String] {
        switch self {
        case .dead: [TokenState.invalid.rawValue, "none"]
        case .doubtful(_, _, let reason): [TokenState.quarantined.rawValue, EngineMetrics.label(of: reason)]
        case .moved(_, _, let environment): ["moved", environment.rawValue]
        }
    }
}

extension EngineStatistics.Totals {
    mutating func add(_ outcome: Outcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .rejected: rejected += 1
        case .deferred: deferred += 1
        case .unsent: unsent += 1
        case .indeterminate: indeterminate += 1
        }
    }
}
