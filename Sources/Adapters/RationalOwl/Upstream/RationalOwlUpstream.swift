package import Model

/// The vendor's real service, which the gateway can call. Its limits are in docs/vendors/rationalowl.md#as-an-upstream.
///
/// No call of the dialect states the version of the app, and no call names the gateway, so that every call leaves as it arrived.
extension RationalOwlAdapter: UpstreamAdapter {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://ums.example.com:36001",
            fields: [
                .secret(
                    RationalOwlSend.serverField,
                    isRequired: false,
                    "The rId of a back end that is registered at the vendor for the gateway's own sends."
                ),
                .text(
                    RationalOwlSend.addressField,
                    isRequired: false,
                    "The address that the gateway's own sends state as ip. Default: 0.0.0.0."
                ),
            ]
        )
    }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        if let call = RationalOwlCall(rawValue: request.route) { return call.kind }
        return CoreCall.kind(ofPath: request.path) ?? .other
    }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        guard let call = RationalOwlCall(rawValue: request.route), let naming = call.targetNaming,
            let fields = try? self.fields(of: request)
        else { return .audience }
        let reading = RationalOwlRequest(
            endpoint: call,
            fields: fields,
            settings: RationalOwlSettings(settings),
            userAgent: nil,
            idempotencyKey: nil
        )
        guard case .listed(let targets)? = try? reading.audience(naming) else { return .audience }
        switch naming {
        // A phone number leads to a device only through the store.
        case .phones: return .hidden
        case .devices:
            return .targets(
                targets.compactMap { target in
                    guard case .deviceKey(let key) = target.address else { return nil }
                    return RolloutFacts(device: key.rawValue)
                }
            )
        }
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        let send = RationalOwlSend(notification, through: upstream, account: RationalOwlSettings(settings).accountID)
        return try send?.calls(to: targets, at: time) ?? []
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        RationalOwlVerdict(response).result(of: call)
    }
}

extension RationalOwlCall {
    /// How the call names its targets; nil: it does not send.
    fileprivate var targetNaming: RationalOwlRequest.TargetNaming? {
        switch self {
        case .sendByPhoneNumber: .phones
        case .sendByDeviceID: .devices
        default: nil  // the calls that do not send
        }
    }
}
