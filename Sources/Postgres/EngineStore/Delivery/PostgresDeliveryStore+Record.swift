package import DeliveryEngine
package import Model
import PostgresClient
import Store

extension PostgresDeliveryStore {
    package func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try await asStore { () throws(PostgresError) in
            let before = Self.locking(progress)
            let statements =
                before + [Self.recording(node, progress)] + Self.afterwards(progress)
                + progress.retries.map { Self.splitting($0, from: progress.lease) } + inbox(progress)
            let results = try await engine.run(gathered: Transaction(tenant: nil, statements))
            let count = try results.result(before.count).only().int("count")
            return count < 0 ? .fenced : .recorded(count)
        }
    }

    /// The statements that follow in the transaction that puts a slice back. They store the credential whose repair releases it, or why it was given up.
    private static func afterwards(_ progress: SliceProgress) -> [Statement] {
        let key = progress.lease.key
        let slice: [PostgresValue] = [
            .id(key.tenant), .id(key.message), .int32(key.number), .int64(progress.lease.epoch),
        ]
        switch progress.disposition {
        case .again(_, let credential):
            return [DeliverySQL.putBack.with(slice + [.string(credential?.rawValue), .interval(nil)])]
        case .crowded(let wait): return [DeliverySQL.putBack.with(slice + [.string(nil), .interval(wait)])]
        case .dead(let reason): return [DeliverySQL.bury.with(slice + [.text(reason)])]
        case .goOn, .finished: return []
        }
    }

    /// The lock of the message, if slices are added to it: taken later, it could be a stronger one than that which another flush of the message holds.
    private static func locking(_ progress: SliceProgress) -> [Statement] {
        guard !progress.retries.isEmpty else { return [] }
        return [DeliverySQL.lock(.id(progress.lease.key.tenant), .id(progress.lease.key.message))]
    }

    /// The statement that moves targets into a slice of their own.
    private static func splitting(_ retry: RetrySlice, from lease: SliceLease) -> Statement {
        var after = Duration.zero
        var (holder, reason): (CredentialID?, String?)
        switch retry.disposition {
        case .again(let wait, let credential): (after, holder) = (wait, credential)
        case .dead(let text): reason = text
        case .crowded(let wait): after = wait
        case .goOn, .finished: break
        }
        let key = lease.key
        return DeliverySQL.split(
            .id(key.tenant),
            .id(key.message),
            .int32(key.number),
            .int64(lease.epoch),
            .ids(retry.indexes.filter(lease.targets.indices.contains).map { lease.targets[$0] }),
            .int16(lease.attempts + (retry.countsAttempt && lease.attempts < .max ? 1 : 0)),
            .interval(after),
            .string(holder?.rawValue),
            .string(reason)
        )
    }

    /// The statements that add the new deliveries to the inboxes of devices that have one; none for other dialects. If the lease is lost, they find no rows.
    private func inbox(_ progress: SliceProgress) -> [Statement] {
        let targets = progress.results.filter { $0.dialect.map(inboxVendors.contains) ?? false }.map(\.target)
        if targets.isEmpty { return [] }
        return [DeliverySQL.openInbox(.id(progress.lease.key.tenant), .id(progress.lease.key.message), .ids(targets))]
    }

    package func resume(_ key: CredentialKey) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(DeliverySQL.resume(.id(key.tenant), .id(key.credential)), tenant: nil)
        }
    }

    private static let recording = Routine<NodeID, SliceProgress>(
        "record_slice",
        select: { "SELECT record_slice AS count FROM \($0)" }
    ) { p in
        p["p_tenant"] = { .id($1.lease.key.tenant) }
        p["p_message"] = { .id($1.lease.key.message) }
        p["p_no"] = { .int32($1.lease.key.number) }
        p["p_epoch"] = { .int64($1.lease.epoch) }
        p["p_owner"] = { node, _ in .id(node) }
        p["p_done"] = { .bytes($1.lease.done) }
        p["p_disposition"] = { .text(disposition($1)) }
        p["p_after"] = { .interval(delay($1)) }
        p["p_counts"] = { .bool($1.countsAttempt) }
        p["p_targets"] = { .ids($1.results.map(\.target)) }
        p["p_identities"] = { .ids($1.results.map(\.identity)) }
        p["p_devices"] = { .ids($1.results.map(\.device)) }
        p["p_users"] = { .strings($1.results.map { $0.user?.rawValue }) }
        p["p_addresses"] = { .strings($1.results.map { $0.address?.canonical }) }
        p["p_states"] = { .texts($1.results.map(\.state.rawValue)) }
        p["p_reasons"] = { .strings($1.results.map(\.reason)) }
        p["p_transports"] = { .strings($1.results.map(\.attempt.transport)) }
        p["p_transport_ids"] = { .uuids($1.results.map(\.attempt.transportID)) }
        p["p_certain"] = { .bools($1.results.map(\.attempt.isCertain)) }
        p["p_attempts"] = { .int16s($1.results.map(\.attempt.count)) }
        p["p_sent"] = { .times($1.results.map(\.at)) }
        p["p_bytes"] = { .int32s($1.results.map(\.attempt.payloadBytes)) }
        p["p_reduced"] = { .strings($1.results.map(\.attempt.reduced)) }
    }

    private static func disposition(_ progress: SliceProgress) -> String {
        switch progress.disposition {
        case .goOn: "go"
        case .finished: "finished"
        case .again, .crowded, .dead: "again"
        }
    }

    private static func delay(_ progress: SliceProgress) -> Duration? {
        switch progress.disposition {
        case .goOn, .finished: nil
        case .again(let delay, _), .crowded(let delay): delay
        case .dead: .zero
        }
    }

    package func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError) {
        var statements: [Statement] = []
        let rows = verdicts.compactMap(Verdict.init)
        if !rows.isEmpty {
            statements.append(
                DeliverySQL.condemn(
                    .id(tenant),
                    .ids(rows.map(\.device)),
                    .strings(rows.map(\.token.text)),
                    .texts(rows.map(\.state.rawValue)),
                    .strings(rows.map(\.reason)),
                    .times(rows.map(\.since))
                )
            )
        }
        for case .moved(let device, let token, let environment) in verdicts {
            statements.append(
                DeliverySQL.move(.id(tenant), .id(device), .string(token.text), .text(environment.rawValue))
            )
        }
        guard !statements.isEmpty else { return }
        let work = statements
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(work, tenant: nil)
        }
    }

    /// A token verdict as columns.
    private struct Verdict {
        var device: DeviceID
        var token: DeviceToken
        var state: TokenState
        var reason: String?
        var since: Timestamp?

        /// Returns nil for a verdict that does not affect the token.
        init?(_ verdict: TokenVerdict) {
            switch verdict {
            case .dead(let device, let token, let since):
                self.device = device
                self.token = token
                self.state = .invalid
                self.since = since
            case .doubtful(let device, let token, let reason):
                self.device = device
                self.token = token
                self.state = .quarantined
                self.reason = reason
            case .moved: return nil
            }
        }
    }
}
