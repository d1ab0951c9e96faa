import Hummingbird
import Model
import Postgres

/// `/v1/audit`.
extension NativeAPI {
    /// Needs `admin`, not `read`: the audit names people and keys, and `read` is what dashboards get.
    func listAudit(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        let limit = try call.limit()
        guard let after = Int64(call.query("after") ?? "0"), after >= 0 else {
            throw .invalid("after", "is no position")
        }
        let entries = try await asked { () async throws(StoreError) in
            try await audit.entries(in: call.tenant, after: after, limit: limit)
        }
        return .json([
            "entries": .array(entries.map(NativeShapes.audit)),
            "next": entries.count == limit ? entries.last.map { .int($0.position) } ?? .null : .null,
        ])
    }
}
