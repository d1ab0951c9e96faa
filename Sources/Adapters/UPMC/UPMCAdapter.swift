import HTTPTypes
package import Model

/// Translates UPMC, Uracle's Morpheus Push: the calls of apps (`*.ctl`), the sends of back ends, and the marketing calls.
///
/// Source: docs/contracts/upmc.md, from the vendor's iOS guide and public material; undocumented behaviour is marked `Assumed:`. All versions from 3.0
/// to 5.1 are accepted at the same time; the binding's `version` selects the payload that its apps understand.
package struct UPMCAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .upmc }
    package var routes: [VendorRoute] { UPMCCall.routes }
    /// `rcv_register_sent_ack` and `rcv_register_send_result`.
    package var reports: Reporting { Reporting(received: .reported, read: .reported) }

    package var senders: SenderForm? {
        SenderForm(ownKey: .init(header: "X-Gateway-Key", secret: UPMCSettings.sendSecretName))
    }

    package func userToken(of request: VendorRequest) -> String? {
        if let token = request.header(UserTokenRules.header) { return token }
        let parameters = try? self.parameters(of: request)
        return (try? parameters?.text("USER_TOKEN", limit: UserTokenRules.tokenBytes)).flatMap(\.self)
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        let endpoint = try endpoint(of: request)
        let host = request.host
        func key(_ kind: String, _ value: String) -> BindingKey {
            BindingKey(vendor: vendor, kind: kind, value: value, host: host)
        }
        if endpoint.isMarketing {
            return (key("application", try MarketingRequest(request.body).required("appId")), endpoint.caller)
        }
        let parameters = try self.parameters(of: request)
        if let application = try parameters.text("APP_ID") { return (key("application", application), endpoint.caller) }
        // Version 3.0 sends the bundle, or nothing (docs/contracts/upmc.md#1.8).
        if let bundle = try parameters.text("CBSID") { return (key("bundle", bundle), endpoint.caller) }
        return (key("only", "*"), endpoint.caller)
    }

    /// Without the application, or with one in the query, a later field may still name it.
    package func earlyKey(of request: VendorRequest) -> BindingKey? {
        guard request.query == nil, let key = (try? locate(request))?.0, key.kind == "application" else { return nil }
        return key
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let endpoint = try endpoint(of: request)
        if endpoint.isMarketing { return [try MarketingRequest(request.body).command(endpoint)] }
        let parameters = try self.parameters(of: request)
        let dialect = UPMCSettings(settings)
        try Guard(endpoint, parameters, dialect, settings.secrets).check(request)
        return try UPMCRequest(
            endpoint: endpoint,
            parameters: parameters,
            settings: dialect,
            receivedAt: request.receivedAt
        ).commands()
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        guard let response = response(to: request, settings: settings) else {
            return refuse(AdapterError(.notFound), for: request, settings: settings)
        }
        return response.answer(replies).shared(from: response.endpoint)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        guard let response = response(to: request, settings: settings) else {
            return request.method == .options ? .preflight : .failure(UPMCError(error), body: [[:]])
        }
        if request.method == .options, response.endpoint.caller != .sender { return .preflight }
        return response.refuse(error).shared(from: response.endpoint)
    }

    package func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings)
        throws(AdapterError) -> PushPayload
    {
        try UPMCPayload(notification, to: target, settings: UPMCSettings(settings)).encoded()
    }

    func parameters(of request: VendorRequest) throws(AdapterError) -> Parameters {
        try request.once { (request) throws(AdapterError) in try Parameters(request) }
    }

    private func endpoint(of request: VendorRequest) throws(AdapterError) -> UPMCCall {
        guard request.method == .post || request.method == .get else { throw AdapterError(.methodNotAllowed) }
        guard let endpoint = UPMCCall(path: request.path) else { throw AdapterError(.notFound) }
        // A page of any site can make a browser send a GET.
        guard request.method == .post || endpoint.caller != .sender else { throw AdapterError(.methodNotAllowed) }
        return endpoint
    }

    /// Nil for a path that is not a supported call.
    private func response(to request: VendorRequest, settings: BindingSettings) -> UPMCResponse? {
        guard let endpoint = UPMCCall(path: request.path) else { return nil }
        return UPMCResponse(
            endpoint: endpoint,
            parameters: (try? parameters(of: request)) ?? Parameters(),
            settings: UPMCSettings(settings),
            secret: settings.secrets[UPMCSettings.secretName],
            receivedAt: request.receivedAt
        )
    }
}

extension UPMCAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] { ["CUID": .user, "PSID": .token, "CNAME": .name] }
}

extension UPMCAdapter: CaptureNaming {
    /// `PSID` is the device token.
    package var fieldKinds: [String: FieldKind] {
        ["AUTHKEY": .secret, "PSID": .secret, "USER_TOKEN": .secret, "CUID": .personal]
    }
}
