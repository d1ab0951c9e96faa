package import Commands
package import DeliveryEngine
package import Model
import NIOConcurrencyHelpers

/// One database in memory, behind the command, delivery and webhook stores of a test: what one accepts, the other claims.
///
/// Its own clock is the database's. It keeps the rules of the seams, not the speed of a database.
package final class MemoryDatabase: Sendable {
    private struct State {
        var tables = MemoryTables()
        var failures: [StoreError] = []
    }

    package let clock: any WallClock
    private let state = NIOLockedValueBox(State())

    package init(clock: any WallClock) { self.clock = clock }

    /// Makes the next calls of any store throw, one error each; nothing of such a call happens.
    package func failNext(_ errors: StoreError...) { state.withLockedValue { $0.failures.append(contentsOf: errors) } }

    /// Adds an app with its routes; a dialect without settings gets none.
    package func provision(
        _ tenant: TenantID,
        app: AppID,
        routes: [Platform: PlatformRoute],
        settings: [Vendor: BindingSettings] = [:],
        timing: AppTiming = .none
    ) {
        state.withLockedValue {
            $0.tables.apps[Scoped(tenant, app)] = AppRow(routes: routes, settings: settings, timing: timing)
        }
    }

    /// Provisions an app's hours anew.
    package func setTiming(_ timing: AppTiming, of app: AppID, in tenant: TenantID) {
        state.withLockedValue { $0.tables.apps[Scoped(tenant, app)]?.timing = timing }
    }

    /// One call of a store: all or nothing.
    func transaction<Result>(_ body: (inout MemoryTables, Timestamp) -> Result) throws(StoreError) -> Result {
        let now = clock.now()
        let result = state.withLockedValue { state -> Swift.Result<Result, StoreError> in
            if !state.failures.isEmpty { return .failure(state.failures.removeFirst()) }
            return .success(body(&state.tables, now))
        }
        return try result.get()
    }

    private func read<Result>(_ body: (MemoryTables) -> Result) -> Result {
        state.withLockedValue { body($0.tables) }
    }
}

// What tests look at.
extension MemoryDatabase {
    /// The message's row.
    package func message(_ tenant: TenantID, _ id: MessageID) -> MessageRow? {
        read { $0.messages[Scoped(tenant, id)] }
    }

    /// Every message of a tenant, by id.
    package func messages(_ tenant: TenantID) -> [MessageRow] {
        read { $0.messages.filter { $0.key.tenant == tenant }.map(\.value) }.sorted { $0.message.id < $1.message.id }
    }

    /// The slices of a message, by number.
    package func slices(_ tenant: TenantID, _ message: MessageID) -> [SliceRow] {
        read { tables in
            (tables.slicesByMessage[Scoped(tenant, message)] ?? []).sorted()
                .compactMap { tables.slices[SliceKey(tenant: tenant, message: message, number: $0)] }
        }
    }

    /// The delivery rows of a message, in the order of writing.
    package func deliveries(_ tenant: TenantID, _ message: MessageID) -> [DeliveryRow] {
        read { tables in
            (tables.targetsByMessage[Scoped(tenant, message)] ?? [])
                .compactMap { tables.deliveries[Scoped(tenant, DeliveryKey(message: message, target: $0))] }
        }
    }

    /// The counts of a message, read from its rows.
    package func funnel(_ tenant: TenantID, _ message: MessageID) -> Funnel? {
        read { $0.funnel(Scoped(tenant, message)) }
    }

    /// The device's row.
    package func device(_ tenant: TenantID, _ id: DeviceID) -> DeviceRow? { read { $0.devices[Scoped(tenant, id)] } }

    /// The identity's row.
    package func identity(_ tenant: TenantID, _ id: IdentityID) -> IdentityRow? {
        read { $0.identities[Scoped(tenant, id)] }
    }

    /// The sender's row.
    package func sender(_ tenant: TenantID, _ scope: AppScope, _ id: SenderID) -> SenderRow? {
        read { $0.senders[Scoped(tenant, MemoryTables.SenderIndex(scope: scope, id: id))] }
    }

    /// How many events a tenant has.
    package func eventCount(_ tenant: TenantID) -> Int { read { $0.events[tenant]?.count ?? 0 } }

    /// Why a credential is refused, or nil.
    package func refusal(_ key: CredentialKey) -> Rejection? { read { $0.refusals[key] } }

    /// When a node was last heard of; nil when it left.
    package func lastSeen(_ node: NodeID) -> Timestamp? { read { $0.nodes[node] } }

    /// Slices that some node still owns.
    package func ownedSlices() -> [SliceKey] {
        read { $0.slices.values.filter { $0.owner != nil && !$0.isFinished }.map(\.lease.key) }
    }
}
