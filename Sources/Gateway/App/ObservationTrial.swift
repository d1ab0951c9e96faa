import Adapters
import DeliveryEngine
import EngineStore
import GatewayHTTP
import HTTPTypes
package import Logging
import MigrationStore
package import Model

/// Observes calls that no upstream has answered, with parity and without: what `bench parity` measures. Nothing is sent.
package struct ObservationTrial: Sendable {
    /// A call of a dialect and the answer of its vendor, both in JSON.
    package struct Call: Sendable {
        package var path: String
        package var body: JSON
        package var answer: [UInt8]

        package init(_ path: String, _ body: JSON, answer: [UInt8]) {
            self.path = path
            self.body = body
            self.answer = answer
        }
    }

    /// Calls that are read from JSON already, so that the time of `observe` is that of observing.
    package struct Prepared: Sendable {
        let calls: [ObservedCall]
    }

    /// 4,000 calls are queued at a time: less than the queue holds, and less in each lane than it may have.
    private static let portion = 4_000

    private let database: Database
    private let binding: BoundCall
    private let adapter: any UpstreamAdapter
    private let mounts: VendorMounts
    private let clock = DatabaseClock()
    private let logger: Logger

    /// - Returns: nil if calls of the dialect are not observed.
    package init?(_ database: Database, tenant: TenantID, app: AppID, vendor: Vendor, logger: Logger) {
        guard let adapter = VendorCatalog.product.byVendor[vendor] as? any UpstreamAdapter else { return nil }
        self.database = database
        self.adapter = adapter
        self.logger = logger
        binding = BoundCall(tenant: tenant, app: app, settings: BindingSettings())
        mounts = VendorMounts([adapter])
    }

    package func prepared(_ calls: [Call]) -> Prepared { Prepared(calls: calls.compactMap { observed($0)?.unread }) }

    /// Observes calls, and returns when all of them are performed and the figures of parity are stored.
    package func observe(_ prepared: Prepared, compares: Bool) async {
        let calls = prepared.calls
        for start in stride(from: 0, to: calls.count, by: Self.portion) {
            await observe(portion: calls[start..<min(start + Self.portion, calls.count)], compares: compares)
        }
    }

    private func observe(portion calls: ArraySlice<ObservedCall>, compares: Bool) async {
        let figures = FigureCounts(
            store: PostgresMigrationStore(engine: database.engine),
            interval: .seconds(30),
            logger: logger
        )
        let observer = CallObserver(
            handler: database.commands,
            directory: CachedDirectory(
                store: PostgresDirectory(call: database.call, engine: database.engine),
                clock: clock
            ),
            multiStep: VendorCatalog.product.multiStep,
            figures: figures,
            compares: compares,
            logger: logger
        )
        for call in calls { observer.offer(call) }
        observer.finish()
        await observer.work()
        await figures.flush()
    }

    private func observed(_ call: Call) -> ObservedCall? {
        guard let route = mounts.match(path: call.path, method: .post)?.route else { return nil }
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        let request = VendorRequest(
            route: route.name,
            path: call.path,
            headers: headers,
            body: JSONWriter.bytes(call.body),
            receivedAt: clock.now()
        )
        return ObservedCall(
            call: request,
            adapter: adapter,
            binding: binding,
            upstream: "old",
            kind: adapter.kind(of: request, settings: binding.settings),
            answer: VendorResponse(status: 200, headers: headers, body: call.answer)
        )
    }
}
