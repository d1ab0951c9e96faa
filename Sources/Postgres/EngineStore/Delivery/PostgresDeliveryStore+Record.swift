package import DeliveryEngine
package import Model
import PostgresClient
import Store

extension PostgresDeliveryStore {
    package func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try await asStore { () throws(PostgresError) in
            let before = Self.locking(progress)
            let statements =
                before + [recording(progress, by: node)]
                + progress.retries.map { Self.splitting($0, from: progress.lease) } + Self.moving(progress)
                + Self.returning(progress)
            let results = try await engine.run(gathered: Transaction(tenant: nil, statements))
            let count = try results.result(before.count).only().int("count")
            return count < 0 ? .fenced : .recorded(count)
        }
    }

    func recording(_ progress: SliceProgress, by node: NodeID) -> Statement {
        Self.recording(RecordCall(node: node, inboxVendors: inboxVendors), progress)
    }

    package func settle(_ message: MessageID, tenant: TenantID) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(DeliverySQL.settle(.id(tenant), .id(message)), tenant: nil)
        }
    }

    /// The lock of the message, if slices are added to it: taken later, it could be a stronger one than that which another flush of the message holds.
    private static func locking(_ progress: SliceProgress) -> [Statement] {
        guard !progress.retries.isEmpty else { return [] }
        return [DeliverySQL.lock(.id(progress.lease.key.tenant), .id(progress.lease.key.message))]
    }

    /// The new due time of the targets that stay in a slice which is outside its hours.
    private static func moving(_ progress: SliceProgress) -> [Statement] {
        guard progress.movesDue, delay(progress) != nil else { return [] }
        let key = progress.lease.key
        return [
            DeliverySQL.moveDue(
                .id(key.tenant),
                .id(key.message),
                .int32(key.number),
                .int64(progress.lease.epoch)
            )
        ]
    }

    /// The statement that takes its rules from a slice of which nothing was tried.
    private static func returning(_ progress: SliceProgress) -> [Statement] {
        guard progress.returnsRouting, progress.retries.isEmpty, delay(progress) != nil else { return [] }
        let key = progress.lease.key
        return [
            DeliverySQL.returnRoute(
                .id(key.tenant),
                .id(key.message),
                .int32(key.number),
                .int64(progress.lease.epoch)
            )
        ]
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
            .string(reason),
            .bool(retry.movesDue)
        )
    }

    package func resume(_ key: CredentialKey) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(DeliverySQL.resume(.id(key.tenant), .id(key.credential)), tenant: nil)
        }
    }

    private struct RecordCall: Sendable {
        var node: NodeID
        var inboxVendors: Set<Vendor>
    }

    private static let recording = Routine<RecordCall, SliceProgress>(
        "record_outcomes",
        select: { "SELECT record_outcomes AS count FROM \($0)" }
    ) { p in
        declareSlice(&p)
        declareResults(&p)
    }

    private static func declareSlice(_ p: inout RoutineParameters<RecordCall, SliceProgress>) {
        p["p_tenant"] = { .id($1.lease.key.tenant) }
        p["p_message"] = { .id($1.lease.key.message) }
        p["p_no"] = { .int32($1.lease.key.number) }
        p["p_epoch"] = { .int64($1.lease.epoch) }
        p["p_owner"] = { call, _ in .id(call.node) }
        p["p_done"] = { .bytes($1.lease.done) }
        p["p_disposition"] = { .text(disposition($1)) }
        p["p_after"] = { .interval(delay($1)) }
        p["p_counts"] = { .bool($1.countsAttempt) }
        p["p_held"] = { .string(holder($1)?.rawValue) }
        p["p_dead"] = { .string(reasonOfGivingUp($1)) }
        p["p_settles"] = { .bool($1.settles) }
    }

    private static func declareResults(_ p: inout RoutineParameters<RecordCall, SliceProgress>) {
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
        p["p_groups"] = { .document(OutcomeGroups($1).json) }
        // The deliveries of devices that fetch their messages; none for other dialects.
        p["p_inbox"] = { call, progress in
            .ids(progress.results.filter { $0.dialect.map(call.inboxVendors.contains) ?? false }.map(\.target))
        }
        p["p_device_vendors"] = { .strings(devices($1)) }
        p["p_latencies"] = { .int32s($1.results.map(\.attempt.latency)) }
        p["p_clients"] = { .int64s(present($1, \.client)) }
        p["p_local_hours"] = { .int16s(present($1) { $0.localHour?.index }) }
        p["p_calls"] = { .document(ends($1.calls, of: $1.lease.key)) }
    }

    /// A value of each result; empty if none has one.
    private static func present<Value>(_ progress: SliceProgress, _ value: (DeliveryResult) -> Value?) -> [Value?] {
        guard progress.results.contains(where: { value($0) != nil }) else { return [] }
        return progress.results.map(value)
    }

    /// The dialects of the devices that differ from the message's; empty: all devices have its dialect, as nearly always.
    private static func devices(_ progress: SliceProgress) -> [String?] {
        guard progress.results.contains(where: { $0.otherDialect(than: progress.vendor) != nil }) else { return [] }
        return progress.results.map { $0.otherDialect(than: progress.vendor)?.rawValue }
    }

    private static func disposition(_ progress: SliceProgress) -> String {
        switch progress.disposition {
        case .goOn: "go"
        case .finished: "finished"
        case .again: "again"
        case .crowded: "crowded"
        case .dead: "dead"
        }
    }

    private static func delay(_ progress: SliceProgress) -> Duration? {
        switch progress.disposition {
        case .goOn, .finished, .dead: nil
        case .again(let delay, _), .crowded(let delay): delay
        }
    }

    /// The credential whose repair ends the wait of the slice.
    private static func holder(_ progress: SliceProgress) -> CredentialID? {
        if case .again(_, let credential) = progress.disposition { credential } else { nil }
    }

    /// The reason why the slice was given up.
    private static func reasonOfGivingUp(_ progress: SliceProgress) -> String? {
        if case .dead(let reason) = progress.disposition { reason } else { nil }
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
            _ = try await engine.run(Transaction(tenant: nil, work, flushes: true))
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
            case .dead(let device, let token, let reason, let since):
                self.device = device
                self.token = token
                self.state = .invalid
                self.reason = reason
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
