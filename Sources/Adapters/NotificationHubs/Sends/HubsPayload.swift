import Model

/// A push of this dialect: what a back end sent, unchanged; or Apple's payload of a message that came another way.
struct HubsPayload {
    private let notification: Notification

    init(_ notification: Notification) { self.notification = notification }

    /// Keys of a content's data that say how a send travels.
    static let textKey = "text"
    private static let typeKey = "type"
    private static let priorityKey = "priority"
    /// Seconds since 1970.
    private static let expirationKey = "expiration"

    /// What is stored of a send's way.
    static func data(type: PushType?, priority: Int?, end: Timestamp?) -> JSONObject {
        var data = JSONObject()
        data[typeKey] = type.map { .string(name(of: $0)) }
        data[priorityKey] = priority.map { .int($0) }
        // The message's own end is cut to what the gateway can keep, Apple is told the caller's.
        data[expirationKey] = end.map { .int($0.seconds) }
        return data
    }

    private static let types: KeyValuePairs<String, PushType> = [
        "alert": .alert, "background": .background, "voip": .voip, "complication": .complication,
        "fileprovider": .fileProvider, "mdm": .mdm, "location": .location, "liveactivity": .liveActivity,
        "pushtotalk": .pushToTalk, "widgets": .widgets, "controls": .controls,
    ]

    static func type(named name: String) -> PushType? { types.first { $0.key == name.lowercased() }?.value }

    private static func name(of type: PushType) -> String { types.first { $0.value == type }?.key ?? "alert" }

    /// A payload without visible parts is a background push, also with an empty sound, as in the tutorial (docs/contracts/notificationhubs.md#7.1).
    static func inferredType(_ payload: JSONObject) -> PushType {
        guard let aps = payload["aps"]?.object, aps["content-available"]?.lenientInt == 1, aps["alert"] == nil,
            aps["badge"] == nil
        else { return .alert }
        return aps["sound"] == nil || aps["sound"] == "" ? .background : .alert
    }

    /// - Throws: `AdapterError(.tooLarge)`.
    func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        if notification.origin == .notificationHubs, let rich = RichPush.payload(notification) {
            return try push(JSONWriter.bytes(.object(rich)), .background)
        }
        guard let raw = content.raw else { return try push(JSONWriter.bytes(.object(document))) }
        // Of another dialect: its data is its caller's.
        guard notification.origin == .notificationHubs else { return try push(JSONWriter.bytes(raw)) }
        let bytes = content.data[Self.textKey]?.string.map { Array($0.utf8) } ?? JSONWriter.bytes(raw)
        let type = content.data[Self.typeKey]?.string.flatMap { Self.type(named: $0) }
        return try push(bytes, type, content.data[Self.priorityKey]?.int.map { Int(clamping: $0) }, ownEnd)
    }

    /// What the send says of its end; nil: nothing.
    private var ownEnd: Timestamp? {
        notification.content.data[Self.expirationKey]?.int.map { end(Timestamp(seconds: Int64(clamping: $0))) }
    }

    /// Assumed: what had ended when it was due is for now or never, as with `0`; Apple would at most try once.
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
            type = Self.inferredType(payload)
        }
        var priority = data[Self.priorityKey]?.int.map { Int(clamping: $0) } ?? (type == .background ? 5 : 10)
        if let text = try template.header("apns-priority") {
            guard let number = Int(text), [1, 5, 10].contains(number) else { throw .number }
            priority = number
        }
        let collapseID = try template.header("apns-collapse-id") ?? notification.collapseID
        guard collapseID?.utf8.count ?? 1 <= HubsLimits.collapseBytes else { throw .tooLong }
        let bytes = JSONWriter.bytes(.object(payload))
        guard bytes.count <= (type == .voip ? HubsLimits.voipBytes : HubsLimits.payloadBytes) else { throw .tooLarge }
        return PushPayload(
            bytes: bytes,
            type: type,
            priority: priority,
            collapseID: collapseID.flatMap { $0.isEmpty ? nil : $0 },
            expiresAt: try template.end().map(end) ?? ownEnd
        )
    }

    private func push(
        _ bytes: [UInt8],
        _ named: PushType? = nil,
        _ priority: Int? = nil,
        _ end: Timestamp? = nil
    ) throws(AdapterError) -> PushPayload {
        let type = named ?? (notification.content.isSilent ? .background : .alert)
        let limit = type == .voip ? HubsLimits.voipBytes : HubsLimits.payloadBytes
        guard bytes.count <= limit else { throw AdapterError(.tooLarge, field: "payload") }
        return PushPayload(
            bytes: bytes,
            type: type,
            priority: priority ?? (type == .background ? 5 : 10),
            collapseID: notification.collapseID,
            expiresAt: end
        )
    }

    /// Apple's payload of a message by the native API.
    private var document: JSONObject {
        let content = notification.content
        var aps = JSONObject()
        if content.isSilent {
            aps["content-available"] = 1
        } else {
            var alert = JSONObject()
            alert["title"] = content.title.map { .string($0) }
            alert["subtitle"] = content.subtitle.map { .string($0) }
            alert["body"] = .string(content.body)
            aps["alert"] = .object(alert)
            aps["badge"] = content.badge.map { .int($0) }
            aps["sound"] = .string(content.sound ?? "default")
            aps["category"] = content.category.map { .string($0) }
            aps["thread-id"] = content.threadID.map { .string($0) }
            if content.isUrgent { aps["interruption-level"] = "time-sensitive" }
        }
        var document = content.data
        document["aps"] = .object(aps)
        return document
    }
}
