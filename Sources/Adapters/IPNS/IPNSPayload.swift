import ApplePayload
package import Model

/// A message in the format that an iPNS app expects (docs/contracts/ipns.md#2.6). The vendor documents that `aps.alert` is a plain text and that
/// `message` is a top-level key. The number has several keys, because the key that the library reads is unknown.
package struct IPNSPayload {
    /// The key of a caller's `MESSAGE`, in the content's data and in the payload.
    package static let messageKey = "message"

    private let notification: Notification
    private let appID: String?

    package init(_ notification: Notification, appID: String?) {
        self.notification = notification
        self.appID = appID
    }

    /// The displayed text: the body, or the title if the body is empty.
    package static func alert(of content: Content) -> String {
        content.body.isEmpty ? content.title ?? "" : content.body
    }

    /// The caller's message. Data from another interface is written as JSON text.
    package static func message(of notification: Notification) -> String {
        let data = notification.content.data
        if data.count == 1, let text = data[messageKey]?.string { return text }
        return data.isEmpty ? "" : JSONWriter.text(.object(data))
    }

    /// - Throws: `AdapterError(.tooLarge)` if it cannot be made to fit, `.invalid` if there is nothing to display.
    package func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        let type: PushType = content.isSilent ? .background : .alert
        do throws(PushFault) {
            if let raw = content.raw {
                return try RawPayload.push(JSONWriter.bytes(raw), type: type, collapseID: notification.collapseID)
            }
            let alert = Self.alert(of: content)
            guard content.isSilent || !alert.isEmpty else { throw PushFault("body", .missing) }
            let message = Self.message(of: notification)
            do throws(PushFault) {
                return try push(type, alert: alert, message: message)
            } catch {
                guard error.isTooLarge else { throw error }
                return try reduced(type, alert: alert, message: message)
            }
        } catch {
            throw AdapterError(error)
        }
    }

    /// The push with as much of both texts as fits; `more` indicates that the rest is fetched by `getMsgDetail`.
    private func reduced(_ type: PushType, alert: String, message: String) throws(PushFault) -> PushPayload {
        var alert = alert
        var reduced: [String] = []
        let room = type.maxPayloadBytes - (try payload(alert: "", message: "", more: true).bytes(for: type).count)
        if JSONText.encodedBytes(alert) > room {
            // Only a message from another interface has an alert of this length.
            alert = JSONText.head(of: alert, encodedBytes: room - "…".utf8.count) + "…"
            reduced.append(AppleKey.alert)
        }
        let head = JSONText.head(of: message, encodedBytes: room - JSONText.encodedBytes(alert))
        if head != message { reduced.append(Self.messageKey) }
        return try push(type, alert: alert, message: head, reduced: reduced)
    }

    private func push(_ type: PushType, alert: String, message: String, reduced: [String] = []) throws(PushFault)
        -> PushPayload
    {
        try payload(alert: alert, message: message, more: !reduced.isEmpty)
            .push(type: type, collapseID: notification.collapseID, reduced: reduced)
    }

    private func payload(alert: String, message: String, more: Bool) -> APNsPayload {
        let content = notification.content
        var aps = Aps(isContentAvailable: true)
        if !content.isSilent {
            aps.alert = .text(alert)
            aps.badge = content.badge
            aps.sound = .named(content.sound ?? "default")
        }
        let number = JSON.string(notification.number(for: .ipns))
        var custom: JSONObject = [
            Self.messageKey: .string(message), "msg_id": number, "req_id": number, "requestId": number,
        ]
        custom["app_id"] = appID.map { .string($0) }
        if more { custom["more"] = "Y" }
        return APNsPayload(aps, custom: custom)
    }
}
