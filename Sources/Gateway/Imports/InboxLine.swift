import Commands
import Model
package import TransferStore

/// A message that a device has not fetched as a line of a tenant's export.
package enum InboxLine {
    /// 100 messages per transaction.
    package static let pageCount = 100

    package static func text(_ message: UnreadMessage) -> String {
        var line: JSONObject = ["key": .string(message.key.rawValue), "message": .string(message.message.description)]
        line["number"] = message.number.map { .string($0) }
        line["dueAt"] = .string(message.dueAt.rfc3339)
        line["expiresAt"] = .string(message.expiresAt.rfc3339)
        line["collapseId"] = message.collapseID.map { .string($0) }
        line["content"] = message.document
        if !message.variables.isEmpty { line["variables"] = .object(message.variables) }
        return JSONWriter.text(.object(line))
    }

    private static let known: Set = [
        "key", "message", "number", "dueAt", "expiresAt", "collapseId", "content", "variables",
    ]

    /// - Throws: `DeviceLine.Fault` that names the field.
    package static func message(_ record: [UInt8]) throws(DeviceLine.Fault) -> UnreadMessage {
        let fields = try DeviceLine.fields(json: record)
        if let other = fields.keys.filter({ !known.contains($0) }).min() {
            throw DeviceLine.Fault(reason: "'\(other.prefix(64))' is not a field of an unread message")
        }
        guard let key = try DeviceLine.text("key", fields) else { throw DeviceLine.Fault(reason: "key: is missing") }
        guard let id = try DeviceLine.text("message", fields).flatMap({ MessageID(text: $0) }) else {
            throw DeviceLine.Fault(reason: "message: must be a UUID")
        }
        guard let content = fields["content"]?.object else {
            throw DeviceLine.Fault(reason: "content: must be an object")
        }
        let message = UnreadMessage(
            key: VendorDeviceKey(key),
            message: id,
            number: try DeviceLine.text("number", fields),
            content: UnreadMessage.content(content),
            collapseID: try DeviceLine.text("collapseId", fields),
            dueAt: try time("dueAt", fields),
            expiresAt: try time("expiresAt", fields),
            variables: fields["variables"]?.object ?? JSONObject()
        )
        guard UserImportRules.isStorable(message) else {
            throw DeviceLine.Fault(reason: "the message is too long or cannot be stored")
        }
        return message
    }

    private static func time(
        _ name: String,
        _ fields: [String: JSON]
    ) throws(DeviceLine.Fault) -> Timestamp {
        guard let time = try DeviceLine.text(name, fields).flatMap({ Timestamp(rfc3339: $0) }) else {
            throw DeviceLine.Fault(reason: "\(name): must be a time like 2026-12-25T13:30:00Z")
        }
        return time
    }
}
