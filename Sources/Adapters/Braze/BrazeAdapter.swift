import HTTPTypes
package import Model

/// Translates Braze's REST interface (sends to users and their tokens, with permissions per key) and the calls of the vendor's SDK.
///
/// Source: docs/contracts/braze.md, from the vendor's public documents; undocumented behaviour is marked `Assumed:`. Calls that are not supported are
/// answered with 404 in the vendor's format. No code of the vendor's SDKs is used. SDK calls are answered only if a binding enables them, because the
/// licence of the SDK determines whether an app may keep it.
package struct BrazeAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .braze }
    package var routes: [VendorRoute] { BrazeCall.routes }
    /// Opens, and the events that the binding names.
    package var reports: Reporting {
        Reporting(received: .configured(setting: "receivedEvents"), read: .reported)
    }

    /// REST keys are the proof of every call of a back end.
    package var senders: SenderForm? { nil }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        if SDKCall(path: request) != nil {
            let value = try SDKCall.key(request)
            return (BindingKey(vendor: vendor, kind: BrazeSettings.sdkKind, value: value, host: request.host), .device)
        }
        _ = try BrazeCall(request)
        let key = BindingKey(
            vendor: vendor,
            kind: BrazeSettings.restKind,
            value: try RestKey.hash(request),
            host: request.host
        )
        // Finding a binding by the key's hash is the proof; the permissions are checked with the binding's settings.
        return (key, .credential)
    }

    /// Without the header, a key may follow in the body, which counts instead of one in the query.
    package func earlyKey(of request: VendorRequest) -> BindingKey? {
        guard SDKCall(path: request) != nil || request.headers[.authorization] != nil else { return nil }
        return (try? locate(request))?.0
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        try BrazeRequest(request, settings).commands()
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        if let call = SDKCall(path: request) { return SDKResponse(call, request, settings).answer(replies) }
        return BrazeResponse(request).answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        if let call = SDKCall(path: request) { return SDKResponse(call, request, settings).failure(error) }
        return BrazeResponse(request).failure(BrazeError(error))
    }

    package func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings)
        throws(AdapterError) -> PushPayload
    {
        try BrazePayload(notification, to: target).encoded()
    }
}

extension BrazeAdapter: MultiStepVendor {
    package func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
    {
        try BrazeRequest(request, settings).sequel(to: replies)
    }
}

extension BrazeAdapter: CampaignVendor {
    package func campaignProblem(in body: JSONObject) -> String? { BrazeCampaign.problem(in: body) }
}

extension BrazeAdapter: EventExporting {
    package var exportFormat: String { "currents" }
    package var exportedData: [String] { CurrentsEvent.messageData }
    package func export(_ event: EventRecord, _ facts: EventFacts) -> [JSON] { CurrentsEvent(event, facts).all }
}

extension BrazeAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] {
        ["device_id": .key, "external_id": .user, "push_token": .token]
    }
}
