package import ApplePayload
import HTTPTypes
package import Model

/// The dialect of devices that the native API registers: Apple's payload as Apple documents it, with the caller's keys next to `aps`.
///
/// It has no routes, because the calls of the native API do not belong to a vendor.
struct NativeAdapter: VendorAdapter, DeviceImporting {
    let vendor = Vendor.native
    let routes: [VendorRoute] = []
    /// `POST /v1/receipts`.
    let reports = Reporting(received: .reported, read: .reported)
    let senders: SenderForm? = nil
    let isPersonal = false
    let importColumns: [String: DeviceColumn] = [:]

    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        throw AdapterError(.notFound)
    }
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
        do throws(PushFault) { return try Self.push(notification) } catch {
            throw AdapterError(error, payload: "payload")
        }
    }

    private static func push(_ notification: Notification) throws(PushFault) -> PushPayload {
        let content = notification.content
        if let apns = content.apns {
            return try ApplePushOptions(stored: apns).push(
                content,
                custom: custom(notification),
                collapseID: notification.collapseID
            )
        }
        let type: PushType = content.isSilent ? .background : .alert
        if let raw = content.raw {
            return try RawPayload.push(JSONWriter.bytes(raw), type: type, collapseID: notification.collapseID)
        }
        var aps = Aps(content)
        if content.media != nil, !content.isSilent { aps.isContentMutable = true }
        return try APNsPayload(aps, custom: custom(notification)).push(
            type: type,
            collapseID: notification.collapseID
        )
    }

    /// The caller's keys, and the message's id.
    private static func custom(_ notification: Notification) -> JSONObject {
        var custom = notification.content.data.besideAps
        custom["messageId"] = .string(notification.message.description)
        return custom
    }

    fileprivate static func fault(_ notification: Notification) -> PushFault? {
        ApplePushOptions(stored: notification.content.apns ?? [:]).fault(
            in: notification.content,
            custom: custom(notification),
            collapseID: notification.collapseID
        )
    }
}

/// Apple's rules for messages in the native format.
package enum NativePayloadRules {
    /// The first of Apple's rules that the push of a message with `apns` breaks, or nil. The id of the message does not matter, because all ids have the same
    /// length.
    package static func fault(in notification: Notification) -> PushFault? { NativeAdapter.fault(notification) }
}
