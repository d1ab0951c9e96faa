package import Model

/// A `PlainAdapter` whose vendor has an upstream. Its calls name the keys of devices, at most `callSize` in each; a key that begins with `lost` cannot be
/// named, and the message `nothing` cannot be sent.
package struct PlainUpstreamAdapter: UpstreamAdapter {
    private let base: PlainAdapter
    private let callSize: Int

    package init(vendor: Vendor = .rationalOwl, callSize: Int = 100) {
        base = PlainAdapter(vendor: vendor)
        self.callSize = callSize
    }

    package var vendor: Vendor { base.vendor }
    package var routes: [VendorRoute] { base.routes }
    package var reports: Reporting { base.reports }
    package var senders: SenderForm? { base.senders }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        try base.locate(request)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        try base.decode(request, settings: settings)
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        base.encode(replies, for: request, settings: settings)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        base.refuse(error, for: request, settings: settings)
    }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload { try base.payload(for: notification, to: target, settings: settings) }

    package var upstreamForm: UpstreamForm { UpstreamForm(exampleURL: "https://plain.example.com", fields: []) }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind { .send }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets { .audience }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        guard notification.content.body != "nothing" else { throw AdapterError(.invalid, field: "body") }
        let places = targets.indices.filter { !targets[$0].key.rawValue.hasPrefix("lost") }
        return stride(from: 0, to: places.count, by: callSize).map { start in
            let part = Array(places[start..<min(places.count, start + callSize)])
            let names = part.map { targets[$0].key.rawValue }
            let body = Array(([notification.content.body] + names).joined(separator: "\n").utf8)
            return UpstreamCall(VendorRequest(route: "send", path: "/send", body: body), targets: part, names: names)
        }
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        UpstreamResult(response.status == 200 ? .acceptedByUpstream : .unclear, for: call)
    }
}
