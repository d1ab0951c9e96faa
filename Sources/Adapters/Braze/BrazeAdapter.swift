import HTTPTypes
package import Model

/// The translator of Braze's REST interface, sends to users and their tokens behind keys with permissions, and of what the vendor's SDK calls.
///
/// Source: docs/contracts/braze.md, from the vendor's public documents; undocumented behaviour is marked `Assumed:`. Calls that are not supported are answered
/// with 404 in the vendor's format. No code of the vendor's SDKs is used; whether an app may keep the SDK is a question of its licence, so SDK calls are
/// answered only if a binding enables them.
package struct BrazeAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .braze }
    package var routes: [VendorRoute] { BrazeCall.routes }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) {
        if SDKCall(path: request) != nil {
            let value = try SDKCall.key(request)
            return (BindingKey(vendor: vendor, kind: BrazeSettings.sdkKind, value: value, host: request.host), .none)
        }
        _ = try BrazeCall(request)
        let key = BindingKey(
            vendor: vendor,
            kind: BrazeSettings.restKind,
            value: try RestKey.hash(request),
            host: request.host
        )
        // That it leads to a binding is the proof; what it may do is judged with the binding's settings.
        return (key, .none)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        if let call = SDKCall(path: request) {
            guard SDKSettings(settings).isEnabled else { throw AdapterError(.unauthorized) }
            let sdk = SDKSettings(settings)
            if sdk.authentication == .required, SDKAuthentication(sdk).failure(request) != nil {
                throw AdapterError(.unauthorized)
            }
            return call == .other ? [] : [try SDKData(request, settings).question]
        }
        let call = try BrazeCall(request)
        let hash = try RestKey.hash(request)
        guard BrazeSettings(settings).permits(call, keyHash: hash, from: request.remoteAddress) else {
            throw AdapterError(.unauthorized)
        }
        switch call {
        case .track: return try UserTrack(request).commands
        case .export, .delete, .nameAliases, .identify, .merge: return try UserCalls(call, request).commands()
        case .subscriptionSet, .subscriptionsSet, .subscriptionGet, .subscriptionUser:
            return try SubscriptionCalls(call, request).commands()
        default: return try CampaignCalls(call, request).commands()
        }
    }

    package func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
    {
        if SDKCall(path: request) != nil {
            guard case .registration(.standing(let standing))? = replies.first else { return [] }
            return try SDKData(request, settings).commands(after: standing)
        }
        return try CampaignCalls(try BrazeCall(request), request).sequel(to: replies)
    }

    package func campaignProblem(in body: JSONObject) -> String? { BrazeCampaign.problem(in: body) }
    package var keepsCampaigns: Bool { true }

    package var exportFormat: String? { "currents" }
    package var exportedData: [String] { CurrentsEvent.messageData }
    package func export(_ event: EventRecord, _ facts: EventFacts) -> [JSON] { CurrentsEvent(event, facts).all }

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
