import ApplePayload
import HTTPTypes
import Model

/// The dialect of devices that the native API registers: Apple's payload as Apple documents it, with the caller's keys next to `aps`.
///
/// It has no routes, because the calls of the native API do not belong to a vendor.
struct NativeAdapter: VendorAdapter, DeviceImporting {
    let vendor = Vendor.native
    let routes: [VendorRoute] = []
    let isPersonal = false
    let importColumns: [String: DeviceColumn] = [:]

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
        let type: PushType = content.isSilent ? .background : .alert
        do throws(PushFault) {
            if let raw = content.raw {
                return try RawPayload.push(JSONWriter.bytes(raw), type: type, collapseID: notification.collapseID)
            }
            var aps = Aps(content)
            if content.media != nil, !content.isSilent { aps.isContentMutable = true }
            var custom = content.data.besideAps
            custom["messageId"] = .string(notification.message.description)
            return try APNsPayload(aps, custom: custom).push(type: type, collapseID: notification.collapseID)
        } catch {
            throw AdapterError(error, payload: "payload")
        }
    }
}
