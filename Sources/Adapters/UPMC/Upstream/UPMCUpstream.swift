package import Model

/// The vendor's real service, which the gateway can call. Its limits are in docs/vendors/upmc.md#as-an-upstream.
///
/// A proxied call leaves as it arrived. If the vendor refuses its `AUTHKEY`, and the gateway has issued that, it leaves once more with a key of the vendor; so do
/// forwarded calls (`keyCall`).
extension UPMCAdapter: UpstreamAdapter {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://push.example.com",
            fields: [
                .flag(
                    UPMCServer.byDeviceField,
                    default: true,
                    "Whether a send can name single devices of a user (REQ_PSIDS). False: all devices of a user take one path."
                ),
                .text(
                    UPMCServer.pathField,
                    isRequired: false,
                    "The path of the vendor's calls, to which the gateway's own sends go: /upmc, /receiver or /. Default: /upmc."
                ),
            ]
        )
    }

    package func addressesUsers(_ settings: UpstreamSettings) -> Bool { !UPMCServer(settings).isByDevice }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        UPMCCall(path: request.path)?.kind ?? .other
    }

    /// `APP_VER` of a registration.
    package func appVersion(in request: VendorRequest) -> String? {
        let parameters = try? self.parameters(of: request)
        return (try? parameters?.text("APP_VER")).flatMap(\.self)
    }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        guard let call = UPMCCall(path: request.path), call.isSend, let parameters = try? self.parameters(of: request)
        else { return .audience }
        let reading = UPMCRequest(
            endpoint: call,
            parameters: parameters,
            settings: UPMCSettings(settings),
            receivedAt: request.receivedAt
        )
        guard let audience = try? reading.audience().0 else { return .audience }
        guard case .users(let users) = audience else {
            // The tokens are the targets, and a token reveals neither a user nor a device.
            return parameters.all("REQ_PSIDS").isEmpty ? .audience : .hidden
        }
        return .targets(users.map { RolloutFacts(user: $0.rawValue) })
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] {
        try UPMCSend(notification, through: UPMCServer(upstream), settings: UPMCSettings(settings), at: time)
            .calls(to: targets)
    }

    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        UPMCVerdict(response).result(of: call)
    }
}

/// The fields of a credential.
struct UPMCServer: Sendable, Hashable {
    /// Whether the vendor's server understands `REQ_PSIDS`.
    static let byDeviceField = "byDevice"
    static let pathField = "basePath"

    var isByDevice: Bool
    /// Without a trailing slash; empty for the root.
    var basePath: String

    init(_ settings: UpstreamSettings) {
        isByDevice = settings.values[Self.byDeviceField]?.bool ?? true
        var path = settings.values[Self.pathField]?.string ?? "/upmc"
        while path.hasSuffix("/") { path.removeLast() }
        basePath = path.isEmpty || path.hasPrefix("/") ? path : "/" + path
    }
}
