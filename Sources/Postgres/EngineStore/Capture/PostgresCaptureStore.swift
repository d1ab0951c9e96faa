package import CaptureStore
package import FoundationEssentials
package import Model
package import PostgresClient
import Store

/// Reads captures and writes their exchanges. A tenant's captures are accessed under row-level security; the engine's role only finds the running ones.
package struct PostgresCaptureStore: Sendable {
    private let call: PostgresPool
    private let engine: PostgresPool

    /// - Parameters:
    ///   - call: the pool of `gateway_call`.
    ///   - engine: the pool of `gateway_engine`.
    package init(call: PostgresPool, engine: PostgresPool) {
        self.call = call
        self.engine = engine
    }

    /// Whether the app has a binding of the dialect. Bindings are in a reference table, which the call role may not read.
    ///
    /// - Throws: `StoreError`.
    package func hasBinding(_ order: CaptureOrder, in tenant: TenantID) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let result = try await engine.run(DirectorySQL.settings(.id(tenant), .id(order.app)), tenant: nil)
            return try result.rows { (row) throws(PostgresError) -> Vendor in try row.id("vendor") }
                .contains(order.vendor)
        }
    }

    /// Returns the tenant's captures, newest first.
    ///
    /// - Throws: `StoreError`.
    package func list(in tenant: TenantID) async throws(StoreError) -> [CaptureFacts] {
        try await asStore { () throws(PostgresError) in
            try await call.run(CaptureSQL.list(.id(tenant)), tenant: tenant.rawValue).rows(CaptureRow.facts)
        }
    }

    /// - Throws: `StoreError`.
    package func capture(_ id: UUID, in tenant: TenantID) async throws(StoreError) -> CaptureFacts? {
        try await asStore { () throws(PostgresError) in
            try await call.run(FindCapture.sql(.id(tenant), .uuid(id)), tenant: tenant.rawValue).rows(CaptureRow.facts)
                .first
        }
    }

    /// Returns a page of exchanges after a number, in order.
    ///
    /// - Throws: `StoreError`.
    package func exchanges(
        of id: UUID,
        in tenant: TenantID,
        after sequence: Int,
        limit: Int
    ) async throws(StoreError) -> [CapturedExchange] {
        let statement = CaptureSQL.exchanges(
            .id(tenant),
            .uuid(id),
            .int32(Int32(clamping: sequence)),
            .int(max(0, limit))
        )
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows(Self.exchange)
        }
    }

    /// The place at which an exchange is written.
    private struct Place: Sendable {
        var tenant: TenantID
        var capture: UUID
    }

    private static let recording = Routine<Place, CapturedExchange>(
        "record_exchange",
        select: { "SELECT record_exchange AS sequence FROM \($0)" }
    ) { p in
        p["p_tenant"] = { place, _ in .id(place.tenant) }
        p["p_capture"] = { place, _ in .uuid(place.capture) }
        p["p_at"] = { .time($1.at) }
        p["p_route"] = { .string($1.route) }
        p["p_outcome"] = { .string($1.outcome.rawValue) }
        p["p_reason"] = { .string($1.reason) }
        p["p_method"] = { .string($1.request.method) }
        p["p_path"] = { .string($1.request.path) }
        p["p_query"] = { .string($1.request.query) }
        p["p_headers"] = { .document($1.request.headers) }
        p["p_body"] = { .string($1.request.body) }
        p["p_body_bytes"] = { .int($1.request.bodyBytes) }
        p["p_status"] = { .int16(Int16(clamping: $1.answer.status)) }
        p["p_answer_type"] = { .string($1.answer.contentType) }
        p["p_answer"] = { .string($1.answer.body) }
        p["p_answer_bytes"] = { .int($1.answer.bodyBytes) }
    }

    /// Writes one exchange. Returns 0 when the capture has ended or is full; nothing is written then.
    ///
    /// - Throws: `StoreError`.
    package func record(
        _ exchange: CapturedExchange,
        in id: UUID,
        of tenant: TenantID
    ) async throws(StoreError) -> Int {
        let statement = Self.recording(Place(tenant: tenant, capture: id), exchange)
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).only().int("sequence")
        }
    }

    /// Returns the running captures of all tenants with the keys that lead to them. Costs one cheap query when none is running.
    ///
    /// - Throws: `StoreError`.
    package func running() async throws(StoreError) -> [RunningCapture] {
        try await asStore { () throws(PostgresError) in
            let rows = try await engine.run(CaptureSQL.running(), tenant: nil)
            var captures = try rows.rows(Self.running)
            guard !captures.isEmpty else { return [] }
            let vendors = PostgresValue.strings(Set(captures.map(\.vendor.rawValue)).sorted())
            let tenants = PostgresValue.strings(Set(captures.map(\.tenant.rawValue)).sorted())
            let keys = try await engine.run(CaptureSQL.keys(tenants, vendors), tenant: nil)
            let found = try keys.rows { (row) throws(PostgresError) -> (TenantID, AppID, Vendor, RunningCapture.Key) in
                let host = try row.text("host")
                let key = RunningCapture.Key(value: try row.text("value"), host: host.isEmpty ? nil : host)
                return (try row.id("tenant_id"), try row.id("app_id"), try row.id("vendor"), key)
            }
            let sole = Set(
                try await engine.run(CaptureSQL.sole(vendors), tenant: nil).rows {
                    (row) throws(PostgresError) -> Vendor in
                    try row.id("vendor")
                }
            )
            for index in captures.indices {
                let capture = captures[index]
                captures[index].keys = found.filter {
                    $0.0 == capture.tenant && $0.1 == capture.app && $0.2 == capture.vendor
                }.map(\.3)
                captures[index].isSole = sole.contains(capture.vendor) && !captures[index].keys.isEmpty
            }
            return captures
        }
    }

    private static func running(_ row: Row) throws(PostgresError) -> RunningCapture {
        RunningCapture(
            tenant: try row.id("tenant_id"),
            id: try row.uuid("capture_id"),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            keepsTexts: try row.bool("keeps_texts"),
            bodyLimit: try row.int("body_limit"),
            endsAt: try row.time("ends_at")
        )
    }

    private static func exchange(_ row: Row) throws(PostgresError) -> CapturedExchange {
        CapturedExchange(
            sequence: try row.int("sequence"),
            at: try row.time("at"),
            route: try row.text("route"),
            outcome: try row.word("outcome"),
            reason: try row.optionalText("reason"),
            request: CapturedExchange.Request(
                method: try row.text("method"),
                path: try row.text("path"),
                query: try row.optionalText("query"),
                headers: try row.optionalDocument("headers") ?? .null,
                body: try row.text("body"),
                bodyBytes: try row.int("body_bytes")
            ),
            answer: CapturedExchange.Answer(
                status: try row.int("status"),
                contentType: try row.optionalText("answer_type"),
                body: try row.text("answer"),
                bodyBytes: try row.int("answer_bytes")
            )
        )
    }
}
