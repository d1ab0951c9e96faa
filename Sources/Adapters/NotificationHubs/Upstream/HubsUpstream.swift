package import Model

/// The vendor's real service, which the gateway can call.
extension HubsAdapter: UpstreamAdapter {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://shop.servicebus.windows.net",
            fields: [
                .text("hub", "The hub's name at the vendor."),
                .text("keyName", "The name of an access policy of the hub with the rights listen, send and manage."),
                .secret("key", "Its key. Signatures name the host, so the gateway signs every call again."),
            ]
        )
    }

    /// The vendor has telemetry of its sends, and no receipts of devices.
    package var reportsReceipts: Bool { false }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        HubsCallKind.kind(of: request)
    }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        NamedInstallation.named(in: request)
    }

    package func admit(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) {
        try HubAdmission(request, HubsSettings(settings)).check()
    }

    /// The call for the credential's hub, signed with its key. Nil for the calls of the tutorials' back end, which is a site of the customer and no part of the vendor's
    /// service. A path outside of the data plane is unchanged, and not signed.
    package func prepare(
        _ request: VendorRequest,
        for upstream: UpstreamSettings,
        host: String,
        at time: Timestamp
    ) -> VendorRequest? {
        guard BackendPath(request.path) == nil, let credential = HubCredential(upstream) else { return nil }
        guard let path = HubPath(request.path) else { return request }
        guard path.isPlain else { return nil }
        return credential.signed(request, host: host, at: time)
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        guard let credential = HubCredential(upstream) else { return [] }
        let sender = HubsOutbound(targets: targets, hub: credential.hub, settings: HubsSettings(settings), time: time)
        return try sender.calls(for: notification)
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        HubsOutcome(response).result(targetCount: call.targets.count)
    }
}
