package import Model
import PostgresClient
import Store

/// A call by which an upstream got a message.
package struct UpstreamTrace: Sendable, Hashable {
    package var upstream: CredentialID
    /// Whether its end is recorded.
    package var isAnswered: Bool
    /// The vendor's name of the message; nil: it gave none.
    package var reference: String?
    package var calledAt: Timestamp

    init(_ row: Row) throws(PostgresError) {
        upstream = try row.id("upstream")
        isAnswered = try row.bool("is_answered")
        reference = try row.optionalText("reference")
        calledAt = try row.time("called_at")
    }
}
