import Adapters
import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Foundation
import GatewayHTTP
import HTTPTypes
import Logging
import Migration
import MigrationStore
import Migrations
import Model
import Store
import Testing

@testable import Gateway

/// A tenant whose app leaves a vendor, in a database that tests share. It observes calls with the vendor's answers, as a node does, and measures what the gates
/// compare. No process is started.
struct MeterStage: Sendable {
    /// A call, and the answer by which the vendor accepted it.
    struct Call: Sendable {
        var path: String
        var body: [UInt8]
        var type = "application/json"
        var address: String?
        var answer: JSON
    }

    static let upstream: CredentialID = "old"
    static let logger = Logger(label: "meter") { _ in SwiftLogNoOpLogHandler() }

    let stores: DatabaseStores
    let tenant: TenantID
    let scope: AppScope
    let adapter: any UpstreamAdapter
    let settings: BindingSettings
    /// When the step of the migration came into force.
    let since: Timestamp
    /// The dialect of the vendor that a migration of the app leaves. Nil: the app has no rules.
    var leaving: Vendor?

    /// - Parameters:
    ///   - vendor: the dialect of the app.
    ///   - values: the settings of its binding.
    /// - Returns: a stage with a tenant of its own.
    /// - Throws: when the database cannot be prepared, or calls of the dialect are not observed.
    static func make(_ vendor: Vendor, _ values: JSONObject = JSONObject()) async throws -> MeterStage {
        let stores = try await DatabaseStores.shared()
        let tenant = try #require(try await stores.provision("leaving").first)
        return MeterStage(
            stores: stores,
            tenant: tenant,
            scope: AppScope(app: "shop", vendor: vendor),
            adapter: try #require(VendorCatalog.product.byVendor[vendor] as? any UpstreamAdapter),
            settings: BindingSettings(tenant: tenant, app: "shop", values: values),
            since: try await stores.now()
        )
    }

    var migrations: PostgresMigrationStore { PostgresMigrationStore(engine: stores.engine) }

    var handler: CommandHandler {
        CommandHandler(
            store: stores.commands,
            clock: DatabaseClock(),
            identifiers: SystemIdentifiers(),
            node: stores.node
        )
    }

    var binding: BoundCall {
        let routes = leaving.map { BoundRoutes(version: 1, table: nil, overlaid: $0) }
        return BoundCall(tenant: tenant, app: scope.app, settings: settings, routes: routes)
    }

    // MARK: Causes

    func request(_ call: Call, at time: Timestamp) throws -> VendorRequest {
        let match = try #require(VendorMounts([adapter]).match(path: call.path, method: .post), "\(call.path)")
        var headers = HTTPFields()
        headers[.contentType] = call.type
        return VendorRequest(
            route: match.route.name,
            path: call.path,
            headers: headers,
            body: call.body,
            remoteAddress: call.address,
            receivedAt: time
        )
    }

    /// Observes calls, and stores the figures about them.
    func observe(_ calls: [Call]) async throws {
        let figures = FigureCounts(store: migrations, interval: .milliseconds(1), logger: Self.logger)
        let clock = DatabaseClock()
        let observer = CallObserver(
            handler: handler,
            directory: CachedDirectory(store: stores.directory, clock: clock),
            multiStep: VendorCatalog.product.multiStep,
            figures: figures,
            logger: Self.logger
        )
        let now = try await stores.now()
        for call in calls {
            let request = try request(call, at: now)
            var headers = HTTPFields()
            headers[.contentType] = "application/json"
            observer.offer(
                ObservedCall(
                    call: request,
                    adapter: adapter,
                    binding: binding,
                    upstream: Self.upstream,
                    kind: adapter.kind(of: request, settings: settings),
                    answer: VendorResponse(status: 200, headers: headers, body: JSONWriter.bytes(call.answer))
                )
            )
        }
        observer.finish()
        await observer.work()
        await figures.flush()
    }

    /// Registers devices with the keys `d0`, `d1` and so on, each with the user `u0`, `u1` and so on, of which the last ones have no token.
    @discardableResult
    func register(_ count: Int, withoutToken missing: Int = 0) async throws -> [IdentityID] {
        let (now, identifiers) = (try await stores.now(), SystemIdentifiers())
        let devices = (0..<count).map { index in
            let key = VendorDeviceKey("d\(index)")
            let token = index < count - missing ? DeviceToken(apns: String(format: "%064x", index + 1)) : nil
            return SeededDevice(
                key: key,
                identity: IdentityID(identifiers.uuid(at: now)),
                device: DeviceID(identifiers.uuid(at: now)),
                registration: DeviceRegistration(
                    key: key,
                    platform: .ios,
                    environment: .production,
                    token: token,
                    user: UserID("u\(index)")
                )
            )
        }
        try await stores.register(devices, scope: scope, in: tenant)
        return devices.map(\.identity)
    }

    /// Counts the events of the tenant, as a node does.
    func countEvents() async throws {
        let reader = PostgresEventReader(engine: stores.engine, node: stores.node)
        var cursor: Int64 = -1
        while let progress = try await reader.step(tenant), progress.cursor > cursor { cursor = progress.cursor }
    }

    // MARK: Figures

    /// The figure of a metric; nil: it has no samples.
    func figure(_ metric: ParityMetric) async throws -> ParityFigure? {
        let sums = try await migrations.figures(of: scope.app, in: tenant, since: since, recent: since)
        return sums.first { $0.whole.metric == metric }?.whole
    }

    /// The result of a gate of the step.
    func verdict(_ gate: MigrationGate) async throws -> MigrationVerdict {
        let meter = MigrationMeter(store: migrations, queries: stores.queries, audit: stores.audit)
        let subject = MigrationMeter.Subject(
            tenant: tenant,
            scope: scope,
            upstream: Self.upstream,
            since: since
        )
        let found = try await meter.measure([gate.metric], of: subject, now: try await stores.now())
        return gate.verdict(found[gate.metric])
    }
}
