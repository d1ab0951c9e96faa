import HTTPTypes
package import Model

/// The translator of Braze's REST interface: sends to users and their tokens, behind keys with permissions.
///
/// Source: the contract `protocols/braze.md`, gathered from the vendor's public documents; what no source says is marked `Assumed:`. What of the
/// interface is not there yet is answered by 404 in the vendor's shape. Nothing of the vendor's SDKs is used.
package struct BrazeAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .braze }
    package var routes: [VendorRoute] { BrazeCall.routes }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) {
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
        try CampaignCalls(try BrazeCall(request), request).sequel(to: replies)
    }

    package func campaignProblem(in body: JSONObject) -> String? { BrazeCampaign.problem(in: body) }
    package var keepsCampaigns: Bool { true }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        BrazeResponse(request).answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        BrazeResponse(request).failure(BrazeError(error))
    }

    package func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings)
        throws(AdapterError) -> PushPayload
    {
        try BrazePayload(notification, to: target).encoded()
    }
}
