import ApplePayload
import Model

/// A message in the format of the vendor's SDK: Apple's own keys, and the message's id under `stub`.
struct StubPayload {
    private let notification: Notification

    init(_ notification: Notification) { self.notification = notification }

    /// - Throws: `AdapterError(.tooLarge)` for more than Apple accepts, `.invalid` if the message has no visible
    ///   content.
    func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        let type: PushType = content.isSilent ? .background : .alert
        do throws(PushFault) {
            if let raw = content.raw {
                return try RawPayload.push(JSONWriter.bytes(raw), type: type, collapseID: notification.collapseID)
            }
            let custom: JSONObject = ["stub": .string(notification.message.description)]
            return try APNsPayload(Aps(content), custom: custom).push(type: type, collapseID: notification.collapseID)
        } catch {
            throw AdapterError(error)
        }
    }
}
