package import Model
import PostgresClient
import Store

/// A message that people compose again: its content in the format of `POST /v1/messages`, with variables (`#{name}`) in its texts.
package struct MessageTemplate: Sendable, Hashable {
    package var app: AppID
    package var name: String
    package var content: JSONObject
    /// Grows with each change. A template that is created again continues above the revisions of a deleted one of its name.
    package var revision: Int64
    /// The author of the last change, as in `audit`.
    package var changedBy: String
    package var changedAt: Timestamp

    /// 500 templates per app: people write and read them. Drafts are among them.
    package static let countLimit = 500
    /// 16 KiB of content: a message that fits a payload, and what a draft adds.
    package static let contentBytes = 16 * 1024
    /// 128 bytes of a name: it is a column of an index.
    package static let nameBytes = 128

    /// The columns that `read` needs, of `message_template t`.
    static let columns = "t.app_id, t.name, t.content, t.revision, t.changed_by, t.changed_at"

    static func read(_ row: Row) throws(PostgresError) -> MessageTemplate {
        MessageTemplate(
            app: AppID(rawValue: try row.text("app_id")),
            name: try row.text("name"),
            content: try row.object("content"),
            revision: try row.int64("revision"),
            changedBy: try row.text("changed_by"),
            changedAt: try row.time("changed_at")
        )
    }
}
