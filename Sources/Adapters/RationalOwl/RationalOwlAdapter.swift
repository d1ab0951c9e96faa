import HTTPTypes
package import Model

/// Translates RationalUMS, and the part of RationalOwl that its senders need.
///
/// It answers the device calls (`/pushApp`, port 36001), the sender calls (`/msgClient`), the sender registry (`/server/register`) and the gateway's
/// own calls (`/ro/v1`), which replace the vendor's closed device channel. Other paths of the core's REST API are answered with 404 in its format.
/// Source: the vendor's iOS guide and public repositories, summarized in docs/contracts/rationalowl.md; undocumented behaviour is marked `Assumed:`.
package struct RationalOwlAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .rationalOwl }

    /// Exact paths come first. Every method reaches the adapter, because wrong methods and unknown paths are answered in the vendor's format too.
    package var routes: [VendorRoute] { RationalOwlCall.routes + Surface.routes }
    /// `noti/delivered` and `notiRead`.
    package var reports: Reporting { Reporting(received: .reported, read: .reported) }

    package var senders: SenderForm? { SenderForm() }

    package func userToken(of request: VendorRequest) -> String? {
        if let token = request.header(UserTokenRules.header) { return token }
        let fields = try? self.fields(of: request)
        return (try? fields?.text("userToken", limit: UserTokenRules.tokenBytes)).flatMap(\.self)
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        let endpoint = try endpoint(of: request)
        let fields = try self.fields(of: request)
        let (kind, field) = endpoint.bindingField
        let value = try fields.required(field)
        let key = BindingKey(vendor: vendor, kind: kind, value: value, host: request.host)
        // Assumed: no proof of the dialect. No public source shows a key, signature or header; a device's ids are its capabilities
        // (docs/contracts/rationalowl.md#3). Back ends prove themselves to the gateway.
        return (key, endpoint.surface.caller)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let call = RationalOwlRequest(
            endpoint: try endpoint(of: request),
            fields: try fields(of: request),
            settings: RationalOwlSettings(settings),
            userAgent: request.headers[.userAgent],
            idempotencyKey: request.header("Idempotency-Key")
        )
        return try call.commands()
    }

    package func encode(
        _ replies: [Reply],
        for request: VendorRequest,
        settings: BindingSettings
    ) -> VendorResponse {
        guard let response = response(to: request, settings: settings) else {
            return refuse(AdapterError(.notFound), for: request, settings: settings)
        }
        return response.answer(replies.first ?? response.silentReply)
    }

    package func refuse(
        _ error: AdapterError,
        for request: VendorRequest,
        settings: BindingSettings
    ) -> VendorResponse {
        guard let response = response(to: request, settings: settings) else {
            return .failure(RationalOwlError(error, at: nil), on: Surface(route: request.route) ?? .pushApp)
        }
        return response.refuse(error)
    }

    package var isPersonal: Bool { false }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        try RationalOwlPayload(notification, platform: target.destination.platform, settings: PayloadSettings(settings))
            .encoded()
    }

    func fields(of request: VendorRequest) throws(AdapterError) -> RationalOwlFields {
        try request.once { (request) throws(AdapterError) in try RationalOwlFields(request) }
    }

    private func endpoint(of request: VendorRequest) throws(AdapterError) -> RationalOwlCall {
        guard let endpoint = RationalOwlCall(rawValue: request.route) else { throw AdapterError(.notFound) }
        guard request.method == .post else { throw AdapterError(.methodNotAllowed) }
        return endpoint
    }

    /// Nil for a path that is not a supported call.
    private func response(to request: VendorRequest, settings: BindingSettings) -> RationalOwlResponse? {
        guard let endpoint = RationalOwlCall(rawValue: request.route) else { return nil }
        return RationalOwlResponse(
            endpoint: endpoint,
            fields: (try? fields(of: request)) ?? RationalOwlFields(),
            settings: RationalOwlSettings(settings),
            userAgent: request.headers[.userAgent],
            host: request.header("Host")
        )
    }
}

extension RationalOwlAdapter: TrackingCallbacks {
    package func trackingCallback(for deliveries: [DeliverySnapshot], settings: BindingSettings) -> VendorRequestBody? {
        RationalOwlCallback(deliveries).body
    }
}

extension RationalOwlAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] { ["dRId": .key, "pn": .phone, "tk": .token, "n": .name] }
}

extension RationalOwlAdapter: CaptureNaming {
    /// `an` is the code sent by text message; `dRId` identifies a device and is its capability.
    package var fieldKinds: [String: FieldKind] {
        [
            "tk": .secret, "tks": .secret, "dRId": .secret, "dRIds": .secret, "an": .secret, "userToken": .secret,
            "pn": .phone, "pns": .phone,
        ]
    }
}
