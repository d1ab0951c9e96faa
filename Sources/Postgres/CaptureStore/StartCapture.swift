package import FoundationEssentials
import Model
package import PostgresClient
package import Store

/// Starts a capture of a binding, unless a capture of the binding is running or the tenant has reached its limit.
package struct StartCapture: StoreWrite {
    package enum Outcome: String, Sendable {
        case started, running, tooMany
        /// The app does not exist.
        case missing
    }

    let capture: UUID
    let order: CaptureOrder
    let actor: AuditActor

    package init(_ capture: UUID, _ order: CaptureOrder, by actor: AuditActor) {
        self.capture = capture
        self.order = order
        self.actor = actor
    }

    private static let sql = StoreSQL.function("start_capture", 11, columns: "start_capture AS outcome")

    package func statement(_ call: StoreCall) -> Statement {
        let limits = order.limits
        return Self.sql(
            .id(call.tenant),
            .uuid(capture),
            .id(order.app),
            .id(order.vendor),
            .string(actor.description),
            .int32(Int32(clamping: limits.duration.milliseconds / 1000)),
            .int32(Int32(clamping: limits.exchangeCount)),
            .int32(Int32(clamping: limits.bodyBytes)),
            .int32(Int32(clamping: limits.totalBytes)),
            .bool(order.keepsTexts),
            .int32(Int32(clamping: CaptureLimits.capturesPerTenant))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome {
        Outcome(rawValue: try result.only().text("outcome")) ?? .missing
    }
}
