package import Model

/// An adapter whose payload is the message's body; a body that is too long or empty is refused.
package struct PlainAdapter: VendorAdapter {
    package var vendor: Vendor
    package var limitBytes: Int
    package var isPersonal: Bool
    // A message's data may set the end of its payload: `end`, in seconds since 1970. A push is a call (`voip`) if its data or the options for Apple say so.
    /// True: the payload ends with the target's key.
    package var namesTarget: Bool

    package init(
        vendor: Vendor = .rationalOwl,
        limitBytes: Int = 64,
        isPersonal: Bool = true,
        namesTarget: Bool = false
    ) {
        self.vendor = vendor
        self.limitBytes = limitBytes
        self.isPersonal = isPersonal
        self.namesTarget = namesTarget
    }

    package var routes: [VendorRoute] { [] }
    package var reports: Reporting { Reporting(received: .reported, read: .reported) }
    package var senders: SenderForm? { nil }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        throw AdapterError(.notFound)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        throw AdapterError(.notFound)
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        VendorResponse(status: 500)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        VendorResponse(status: 400)
    }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        let name = namesTarget ? " \(target.key)" : ""
        let bytes = Array((notification.content.body + name).utf8)
        guard bytes.count <= limitBytes else { throw AdapterError(.tooLarge) }
        guard !bytes.isEmpty else { throw AdapterError(.missing, field: "body") }
        guard notification.content.body != "nobody" else { throw AdapterError(.withheld) }
        let end = notification.content.data["end"]?.int.map { Timestamp(seconds: Int64($0)) }
        let isCall =
            notification.content.data["voip"] != nil || notification.content.apns?["pushType"]?.string == "voip"
        return PushPayload(
            bytes: bytes,
            type: isCall ? .voip : .alert,
            collapseID: notification.collapseID,
            expiresAt: end
        )
    }
}
