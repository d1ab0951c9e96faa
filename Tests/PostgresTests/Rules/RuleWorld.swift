import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The world of a store rule: all stores over one database, with the app `shop` of two tenants.
///
/// It has its own database, because rules let time pass: `pass` makes stored times older, so no rule has to wait and none depends on the clock.
struct RuleWorld: Sendable {
    private let fixture: StoreFixture
    let identifiers: any IdentifierSource = TestIdentifiers()

    static func make() async throws -> RuleWorld { RuleWorld(fixture: try await .alone()) }

    private init(fixture: StoreFixture) { self.fixture = fixture }

    var tenant: TenantID { fixture.acme }
    var otherTenant: TenantID { fixture.other }
    var app: AppID { fixture.scope.app }
    var commands: OperationStore { fixture.commands }
    var deliveries: PostgresDeliveryStore { fixture.delivery }
    var webhooks: PostgresWebhookStore { fixture.webhooks }
    var subscriptions: SubscriptionActs { fixture.subscriptions }

    /// The database's time. The server runs on this machine.
    func now() -> Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// Lets time pass for everything stored in the database.
    func pass(_ duration: Duration) async throws { try await fixture.age(by: duration) }

    /// The rows of a question that no operation asks.
    func rows(_ sql: String, _ parameters: [PostgresValue]) async throws -> ResultSet {
        try await fixture.engine.run(Statement(sql, parameters), tenant: nil)
    }

    /// Provisions the app's timing again.
    func setTiming(_ timing: AppTiming) async throws {
        var tenant = fixture.tenant("acme")
        tenant.apps[0].timing = timing
        _ = try await fixture.provisioning.apply([tenant])
    }

    /// Erases like the native API.
    func erase(_ what: Erasure) async throws {
        switch what {
        case .device(let id): _ = try await fixture.erase(id, in: tenant, by: .key("test"))
        case .user(let id): _ = try await fixture.eraseUser(id, in: tenant, by: .key("test"))
        }
    }

    /// The duration of every lease of a rule, longer than the slowest machine needs for a check.
    static let lease: Duration = .seconds(600)

    /// The app's scope in RationalOwl's dialect, which the rules use.
    var scope: AppScope { AppScope(app: app, vendor: .rationalOwl) }
}

/// The object of an erasure.
enum Erasure: Sendable, Hashable {
    case device(DeviceID)
    case user(UserID)
}

/// Records that the preparation of a rule failed, so the rule itself was not checked.
func fail(_ what: String, at location: SourceLocation = #_sourceLocation) {
    Issue.record(Comment(rawValue: what), sourceLocation: location)
}

extension StoreFixture {
    /// Moves every time that a queue reads back by `duration`.
    fileprivate func age(by duration: Duration) async throws {
        let admin = try await database.admin()
        let seconds = "interval '\(duration.components.seconds) seconds'"
        try await admin.script(
            """
            UPDATE gateway.slice SET next_at = next_at - \(seconds), resume_at = resume_at - \(seconds);
            UPDATE gateway.message SET due_at = due_at - \(seconds), expires_at = expires_at - \(seconds),
                paused_at = paused_at - \(seconds), pace_from = pace_from - \(seconds);
            UPDATE gateway.sender SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds);
            UPDATE gateway.webhook SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds);
            """
        )
        await admin.close()
    }
}
