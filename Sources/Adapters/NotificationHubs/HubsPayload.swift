import ApplePayload
import Model

/// A push of this vendor: the payload that a back end sent, unchanged; or Apple's payload for a message from another interface.
struct HubsPayload {
    private let notification: Notification

    init(_ notification: Notification) { self.notification = notification }

    /// The keys, in a content's data, of the delivery options of a send.
    static let textKey = "text"
    private static let typeKey = "type"
    private static let priorityKey = "priority"
    /// Seconds since 1970.
    private static let expirationKey = "expiration"

    /// The delivery options of a send, as they are stored.
    static func data(type: PushType?, priority: Int?, end: Timestamp?) -> JSONObject {
        var data = JSONObject()
        data[typeKey] = type.map { .string($0.wireName) }
        data[priorityKey] = priority.map { .int($0) }
        // The message's own expiry is limited to the retention of the gateway; Apple receives the caller's value.
        data[expirationKey] = end.map { .int($0.seconds) }
        return data
    }

    /// Whether a stored send has delivery options that another dialect does not write.
    static func hasOwnHeaders(_ content: Content) -> Bool {
        let shown: Set = [PushType.alert.wireName, PushType.background.wireName]
        return content.data[priorityKey] != nil || content.data[expirationKey] != nil
            || content.data[typeKey]?.string.map { !shown.contains($0) } ?? false
    }

    static let typeHeader = "apns-push-type"
    static let priorityHeader = "apns-priority"
    static let expirationHeader = "apns-expiration"

    /// The delivery options of a stored send, as the headers that request them.
    static func headers(of content: Content) -> [String: String] {
        var headers: [String: String] = [:]
        headers[typeHeader] = content.data[typeKey]?.string
        headers[priorityHeader] = content.data[priorityKey]?.int.map { "\($0)" }
        headers[expirationHeader] = content.data[expirationKey]?.int.map { "\($0)" }
        return headers
    }

    /// The caller's body, if the gateway's JSON writer would write it differently.
    static func text(of content: Content) -> [UInt8]? { content.data[textKey]?.string.map { Array($0.utf8) } }

    /// The documented push type with that name; case is ignored.
    static func type(named name: String) -> PushType? {
        let type = PushType(wire: name.lowercased())
        return PushType.documented.contains(type) ? type : nil
    }

    /// - Throws: `AdapterError(.tooLarge)`.
    func encoded() throws(AdapterError) -> PushPayload {
        do throws(PushFault) { return try push() } catch { throw AdapterError(error, payload: "payload") }
    }

    private func push() throws(PushFault) -> PushPayload {
        let content = notification.content
        let collapseID = notification.collapseID
        if notification.origin == .notificationHubs, let rich = RichPush.payload(notification) {
            return try rich.push(type: .background, collapseID: collapseID)
        }
        let shown: PushType = content.isSilent ? .background : .alert
        guard let raw = content.raw else {
            return try APNsPayload(Aps(content), custom: content.data.besideAps).push(
                type: shown,
                collapseID: collapseID
            )
        }
        // A message of another vendor: its data belongs to its caller.
        guard notification.origin == .notificationHubs else {
            return try RawPayload.push(JSONWriter.bytes(raw), type: shown, collapseID: collapseID)
        }
        return try RawPayload.push(
            Self.text(of: content) ?? JSONWriter.bytes(raw),
            type: content.data[Self.typeKey]?.string.flatMap { Self.type(named: $0) } ?? shown,
            priority: content.data[Self.priorityKey]?.int.map { Int(clamping: $0) },
            collapseID: collapseID,
            expiresAt: ownEnd
        )
    }

    /// The expiry that the send requests; nil if it names none.
    private var ownEnd: Timestamp? {
        notification.content.data[Self.expirationKey]?.int.map { end(Timestamp(seconds: Int64(clamping: $0))) }
    }

    /// Assumed: an expiry that had passed when the push was due counts as `0`; Apple would make at most one attempt.
    private func end(_ time: Timestamp) -> Timestamp { time > notification.sentAt ? time : Timestamp(seconds: 0) }

    /// The push of a template. Its headers override the send's (docs/contracts/notificationhubs.md#8).
    ///
    /// - Throws: `TemplateFault`.
    func encoded(by template: TemplatePush) throws(TemplateFault) -> PushPayload {
        let payload = try template.payload()
        let data = notification.content.data
        let type: PushType
        if let name = try template.header("apns-push-type") ?? data[Self.typeKey]?.string {
            guard let known = Self.type(named: name) else { throw .token }
            type = known
        } else {
            type = RawPayload.inferredType(of: payload)
        }
        var priority = data[Self.priorityKey]?.int.map { Int(clamping: $0) } ?? type.rule.standardPriority
        if let text = try template.header("apns-priority") {
            guard let number = Int(text), PushTypeRule.Priorities.any.contains(number: number) else { throw .number }
            priority = number
        }
        let collapseID = try template.header("apns-collapse-id") ?? notification.collapseID
        guard collapseID?.utf8.count ?? 1 <= AppleLimits.collapseIDBytes else { throw .tooLong }
        let end = try template.end().map(end) ?? ownEnd
        do throws(PushFault) {
            return try RawPayload.push(
                JSONWriter.bytes(.object(payload)),
                type: type,
                priority: priority,
                collapseID: collapseID.flatMap { $0.isEmpty ? nil : $0 },
                expiresAt: end
            )
        } catch {
            throw .tooLarge
        }
    }
}
