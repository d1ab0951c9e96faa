package import Model

/// The vendor's real service, which the gateway can call. Its limits are in docs/vendors/ipns.md#as-an-upstream.
///
/// No call of the dialect states the version of the app: `LIB_VER` is that of the vendor's library. No call names the gateway, so that every call leaves as it
/// arrived.
extension IPNSAdapter: UpstreamAdapter {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://push.example.com",
            fields: [
                .secret(
                    IPNSSend.keyField,
                    isRequired: false,
                    "The key that the vendor's send expects as a bearer, if it needs one."
                )
            ]
        )
    }

    /// The kind of the call that the gateway reads, with the binding's names of operations and fields.
    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        let settings = IPNSSettings(settings)
        guard let call = try? Self.mapped(request, settings) else {
            return IPNSCall(lastSegmentOf: request.path, names: settings.operations)?.kind ?? .other
        }
        return call.operation?.kind ?? .other
    }

    /// `@01` names users by `CP_USER_ID`. It reveals neither a device nor the registered user, which is the `USER_CN`.
    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        guard let call = try? Self.mapped(request, IPNSSettings(settings)), call.operation == .send,
            let names = try? call.fields.list(.pushID)
        else { return .audience }
        switch (try? call.fields.text(.pushIDType)).flatMap(\.self) {
        case "@00": return .targets(names.map { RolloutFacts(device: $0) })
        case "@01": return .hidden
        default: return .audience  // another text is refused by both sides
        }
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        // Without an app the vendor accepts no send.
        guard let app = settings[IPNSSettings.appIDKey]?.lenientString, !app.isEmpty else { return [] }
        return try IPNSSend(notification, appID: app, key: upstream.secrets[IPNSSend.keyField])
            .calls(to: targets, at: time)
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        IPNSVerdict(response).result(of: call)
    }
}
