package import Model

/// One message as an iPNS app expects to receive it. Contract §2.6: `aps.alert` is a plain text and `message` stands beside `aps`, both the vendor's
/// word; the number stands under several keys, because the library takes it out itself.
package struct IPNSPayload {
    /// The key of a caller's `MESSAGE`, in the content's data and on the wire.
    package static let messageKey = "message"

    private let notification: Notification
    private let appID: String?

    package init(_ notification: Notification, appID: String?) {
        self.notification = notification
        self.appID = appID
    }

    /// What is shown: the body, or a title that stands alone.
    package static func alert(of content: Content) -> String {
        content.body.isEmpty ? content.title ?? "" : content.body
    }

    /// The caller's message. Data that came by another API is its JSON text.
    package static func message(of notification: Notification) -> String {
        let data = notification.content.data
        if data.count == 1, let text = data[messageKey]?.string { return text }
        return data.isEmpty ? "" : JSONWriter.text(.object(data))
    }

    /// - Throws: `AdapterError(.tooLarge)` when it cannot be made to fit, `.invalid` when there is nothing to show.
    package func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        if let raw = content.raw { return try push(JSONWriter.bytes(raw), reduced: []) }
        var alert = Self.alert(of: content)
        guard content.isSilent || !alert.isEmpty else { throw AdapterError(.invalid, field: "body") }
        var message = Self.message(of: notification)
        var bytes = write(alert: alert, message: message, more: false)
        var reduced: [String] = []
        if bytes.count > IPNSLimits.payloadBytes {
            let room = IPNSLimits.payloadBytes - write(alert: "", message: "", more: true).count
            if Self.encodedBytes(alert) > room {
                // Only what came by another API has an alert of this length.
                alert = Self.head(of: alert, encodedBytes: room - "…".utf8.count) + "…"
                reduced.append("alert")
            }
            let head = Self.head(of: message, encodedBytes: room - Self.encodedBytes(alert))
            if head != message { reduced.append(Self.messageKey) }
            message = head
            bytes = write(alert: alert, message: message, more: true)
        }
        return try push(bytes, reduced: reduced)
    }

    private func push(_ bytes: [UInt8], reduced: [String]) throws(AdapterError) -> PushPayload {
        guard bytes.count <= IPNSLimits.payloadBytes else { throw AdapterError(.tooLarge) }
        let isSilent = notification.content.isSilent
        // Apple refuses priority 10 on a background push.
        return PushPayload(
            bytes: bytes,
            type: isSilent ? .background : .alert,
            priority: isSilent ? 5 : 10,
            collapseID: notification.collapseID,
            reduced: reduced
        )
    }

    private func write(alert: String, message: String, more: Bool) -> [UInt8] {
        let content = notification.content
        var aps = JSONObject()
        if !content.isSilent {
            aps["alert"] = .string(alert)
            aps["badge"] = content.badge.map { .int($0) }
            aps["sound"] = .string(content.sound ?? "default")
        }
        aps["content-available"] = 1
        let number = JSON.string(notification.number(for: .ipns))
        var root = JSONObject([
            ("aps", .object(aps)), (Self.messageKey, .string(message)), ("msg_id", number), ("req_id", number),
            ("requestId", number),
        ])
        root["app_id"] = appID.map { .string($0) }
        // The rest is fetched by `getMsgDetail`.
        if more { root["more"] = "Y" }
        return JSONWriter.bytes(.object(root))
    }

    /// As many whole characters as fit into so many bytes of a JSON string.
    private static func head(of text: String, encodedBytes limit: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += encodedBytes(String(character))
                return used <= limit
            }
        )
    }

    /// The size inside a JSON string, without the quotes.
    private static func encodedBytes(_ text: String) -> Int {
        text.utf8.reduce(into: 0) { size, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0A, 0x0D, 0x09: size += 2
            case 0..<0x20: size += 6
            default: size += 1  // any other byte is written as it is
            }
        }
    }
}
