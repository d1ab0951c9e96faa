package import Model

/// The vendor's real service, which the gateway can call.
extension BrazeAdapter: UpstreamAdapter {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://rest.fra-01.braze.eu",
            fields: [
                .secret(
                    "restKey",
                    "The vendor's REST key for calls that the gateway makes itself. "
                        + "It needs messages.send, and campaigns.trigger.send for triggers."
                )
            ]
        )
    }

    /// `/messages/send` names users, and the vendor pushes to all devices of each (docs/contracts/braze.md).
    package func addressesUsers(_ settings: UpstreamSettings) -> Bool { true }

    /// By `messages.apple_push` and `messages.android_push`.
    package var splitsPlatforms: Bool { true }

    /// The SDK reports opens to the vendor, and only those of the messages that it knows.
    package var reportsReceipts: Bool { false }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        BrazeCallKind.kind(of: request)
    }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        NamedUsers.named(in: request)
    }

    /// Calls of the SDK state it.
    package func appVersion(in request: VendorRequest) -> String? {
        guard SDKCall(path: request) != nil, let body = try? request.brazeBody(),
            let version = body["app_version"]?.string, (1...BrazeLimits.factBytes).contains(version.utf8.count)
        else { return nil }
        return version
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        guard let key = upstream.secrets["restKey"] else { return [] }
        return try BrazeOutbound(notification, to: targets, restKey: key, at: time).calls()
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        BrazeOutcome(response, calledAt: call.request.receivedAt).result(targetCount: call.targets.count)
    }
}
