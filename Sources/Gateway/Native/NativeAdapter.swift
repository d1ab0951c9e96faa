import HTTPTypes
import Model

/// The dialect of devices that were registered by the native API: Apple's payload as Apple documents it, the caller's keys beside `aps`.
///
/// It has no routes: the native API's calls are no vendor's.
struct NativeAdapter: VendorAdapter {
    /// 4096 bytes: Apple, "Generating a remote notification".
    static let payloadLimitBytes = 4096

    let vendor = Vendor.native
    let routes: [VendorRoute] = []
    let isPersonal = false

    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) { throw AdapterError(.notFound) }
    func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        throw AdapterError(.notFound)
    }
    func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        VendorResponse(status: 404)
    }
    func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        VendorResponse(status: 404)
    }

    func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        let content = notification.content
        let json = content.raw ?? Self.document(content, message: notification.message)
        let bytes = JSONWriter.bytes(json)
        guard bytes.count <= Self.payloadLimitBytes else { throw AdapterError(.tooLarge, field: "payload") }
        return PushPayload(
            bytes: bytes,
            type: content.isSilent ? .background : .alert,
            priority: content.isSilent ? 5 : 10,
            collapseID: notification.collapseID
        )
    }

    private static func document(_ content: Content, message: MessageID) -> JSON {
        var document = content.data
        document["aps"] = .object(content.isSilent ? JSONObject([("content-available", 1)]) : visible(content))
        document["messageId"] = .string(message.description)
        return .object(document)
    }

    private static func visible(_ content: Content) -> JSONObject {
        var alert = JSONObject()
        alert["title"] = content.title.map { .string($0) }
        alert["subtitle"] = content.subtitle.map { .string($0) }
        alert["body"] = .string(content.body)
        var aps = JSONObject()
        aps["alert"] = .object(alert)
        aps["badge"] = content.badge.map { .int($0) }
        aps["sound"] = .string(content.sound ?? "default")
        aps["category"] = content.category.map { .string($0) }
        aps["thread-id"] = content.threadID.map { .string($0) }
        if content.isUrgent { aps["interruption-level"] = "time-sensitive" }
        if content.media != nil { aps["mutable-content"] = 1 }
        return aps
    }
}
