package import Commands
package import DeliveryEngine
package import Model

/// What a contract rule runs against: stores over one database, with one app of two tenants.
///
/// Whoever runs a contract owes a fresh pair of tenants for every rule: `app` provisioned in both, iOS with topic and a credential per environment,
/// bound to RationalOwl.
package struct ContractWorld: Sendable {
    package var tenant: TenantID
    package var otherTenant: TenantID
    package var app: AppID
    package var commands: any CommandStore
    package var deliveries: any DeliveryStore
    /// Only `WebhookStoreContract` needs it.
    package var webhooks: (any WebhookStore)?
    package var subscriptions: (any SubscriptionStore)?
    /// Provisions the app's hours anew in `tenant`; only `TimingContract` needs it.
    package var setTiming: (@Sendable (AppTiming) async throws -> Void)?
    /// Erases in `tenant` as the native API does; only `BadgeContract` needs it.
    package var erase: (@Sendable (Erasure) async throws -> Void)?
    package var identifiers: any IdentifierSource
    /// The database's time.
    package var now: @Sendable () -> Timestamp
    /// Lets the database's time pass, for what it keeps: a test clock moves; a server's stays, and what is stored grows older.
    package var pass: @Sendable (Duration) async throws -> Void

    package init(
        tenant: TenantID,
        otherTenant: TenantID,
        app: AppID,
        commands: any CommandStore,
        deliveries: any DeliveryStore,
        webhooks: (any WebhookStore)? = nil,
        subscriptions: (any SubscriptionStore)? = nil,
        setTiming: (@Sendable (AppTiming) async throws -> Void)? = nil,
        erase: (@Sendable (Erasure) async throws -> Void)? = nil,
        identifiers: any IdentifierSource,
        now: @escaping @Sendable () -> Timestamp,
        pass: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.tenant = tenant
        self.otherTenant = otherTenant
        self.app = app
        self.commands = commands
        self.deliveries = deliveries
        self.webhooks = webhooks
        self.subscriptions = subscriptions
        self.setTiming = setTiming
        self.erase = erase
        self.identifiers = identifiers
        self.now = now
        self.pass = pass
    }

    /// How long every lease of a rule lasts: longer than the slowest machine needs to look at it.
    package static let lease: Duration = .seconds(600)

    /// The app in RationalOwl's dialect, which the rules use.
    package var scope: AppScope { AppScope(app: app, vendor: .rationalOwl) }
}

/// What is erased.
package enum Erasure: Sendable, Hashable {
    case device(DeviceID)
    case user(UserID)
}

/// One rule of a seam. It answers with what it saw instead, so that it needs no test framework.
package struct ContractRule: Sendable, CustomStringConvertible {
    /// Situation and rule.
    package var name: String
    /// Empty when the rule holds.
    package var violations: @Sendable (ContractWorld) async throws -> [String]

    package init(_ name: String, _ violations: @escaping @Sendable (ContractWorld) async throws -> [String]) {
        self.name = name
        self.violations = violations
    }

    package var description: String { name }
}

/// Collects what does not hold.
struct Findings {
    var list: [String] = []

    mutating func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { list.append(what()) }
    }

    mutating func equal<Value: Equatable>(_ seen: Value, _ wanted: Value, _ what: String) {
        if seen != wanted { list.append("\(what): \(seen), not \(wanted)") }
    }
}
