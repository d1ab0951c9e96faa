import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// What a rule of the stores runs against: all stores over one database, with the app `shop` of two tenants.
///
/// A database of its own, because rules let time pass: what waits in it is made older, so that no rule waits and none is overtaken by the clock.
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
    var subscriptions: PostgresSubscriptionStore { fixture.subscriptions }

    /// The database's time: the server runs on this machine.
    func now() -> Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// Lets time pass for what the database keeps.
    func pass(_ duration: Duration) async throws { try await fixture.age(by: duration) }

    /// Provisions the app's hours anew.
    func setTiming(_ timing: AppTiming) async throws {
        var tenant = fixture.tenant("acme")
        tenant.apps[0].timing = timing
        _ = try await fixture.provisioning.apply([tenant])
    }

    /// Erases as the native API does.
    func erase(_ what: Erasure) async throws {
        switch what {
        case .device(let id): _ = try await fixture.devices.erase(id, in: tenant, by: .key("test"))
        case .user(let id): _ = try await fixture.devices.eraseUser(id, in: tenant, by: .key("test"))
        }
    }

    /// How long every lease of a rule lasts: longer than the slowest machine needs to look at it.
    static let lease: Duration = .seconds(600)

    /// The app in RationalOwl's dialect, which the rules use.
    var scope: AppScope { AppScope(app: app, vendor: .rationalOwl) }
}

/// What is erased.
enum Erasure: Sendable, Hashable {
    case device(DeviceID)
    case user(UserID)
}

/// A rule's preparation failed: it cannot look at what it is about.
func fail(_ what: String, at location: SourceLocation = #_sourceLocation) {
    Issue.record(Comment(rawValue: what), sourceLocation: location)
}

extension StoreFixture {
    /// Moves every time that a queue looks at back by `duration`.
    fileprivate func age(by duration: Duration) async throws {
        let admin = try await database.admin()
        let seconds = "interval '\(duration.components.seconds) seconds'"
        try await admin.script(
            """
            UPDATE gateway.slice SET next_at = next_at - \(seconds);
            UPDATE gateway.sender SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds);
            UPDATE gateway.webhook SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds);
            """
        )
        await admin.close()
    }
}
