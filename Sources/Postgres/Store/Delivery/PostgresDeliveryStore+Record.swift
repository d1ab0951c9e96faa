package import DeliveryEngine
package import Model

extension PostgresDeliveryStore {
    package func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try await asStore { () throws(PostgresError) in
            let statements =
                [DeliverySQL.record.with(Self.parameters(of: progress, node))] + Self.afterwards(progress)
                + inbox(progress)
            let count = try await engine.run(gathered: Transaction(tenant: nil, statements)).result(0).only().int(
                "count"
            )
            return count < 0 ? .fenced : .recorded(count)
        }
    }

    /// What is said of a slice in the transaction that puts it back: the credential that brings it back once it is mended, or why it gave up.
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

    /// What opens the new deliveries in the inboxes of devices that keep one; nothing for all other dialects. Fenced, it finds no rows of its own.
    private func inbox(_ progress: SliceProgress) -> [Statement] {
        let targets = progress.results.filter { $0.dialect.map(inboxVendors.contains) ?? false }.map(\.target)
        if targets.isEmpty { return [] }
        return [HistorySQL.open(.id(progress.lease.key.tenant), .id(progress.lease.key.message), .ids(targets))]
    }

    package func resume(_ key: CredentialKey) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(DeliverySQL.resume(.id(key.tenant), .id(key.credential)), tenant: nil)
        }
    }

    /// In the order of `gateway.record_slice`.
    private static func parameters(of progress: SliceProgress, _ node: NodeID) -> [PostgresValue] {
        let lease = progress.lease
        return [
            .id(lease.key.tenant), .id(lease.key.message), .int32(lease.key.number), .int64(lease.epoch), .id(node),
            .bytes(lease.done), .text(disposition(progress)), .interval(delay(progress)),
            .bool(progress.countsAttempt),
        ] + columns(of: progress.results)
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

    private static func columns(of results: [DeliveryResult]) -> [PostgresValue] {
        [
            .ids(results.map(\.target)),
            .ids(results.map(\.identity)),
            .ids(results.map(\.device)),
            .strings(results.map { $0.user?.rawValue }),
            .strings(results.map { $0.address?.canonical }),
            .texts(results.map(\.state.rawValue)),
            .strings(results.map(\.reason)),
            .strings(results.map(\.transport)),
            .uuids(results.map(\.transportID)),
            .bools(results.map(\.isCertain)),
            .int16s(results.map(\.attempts)),
            .times(results.map(\.at)),
            .int32s(results.map(\.payloadBytes)),
            .strings(results.map(\.reduced)),
        ]
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

    /// A verdict as columns.
    private struct Verdict {
        var device: DeviceID
        var token: DeviceToken
        var state: TokenState
        var reason: String?
        var since: Timestamp?

        /// Nil: it takes nothing from the token.
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
