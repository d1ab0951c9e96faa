import Model

/// Checks whether a call of an app is authorized: by `AUTHKEY`, if the binding requires it. Anyone can get an `AUTHKEY`, so it never allows a call of a back end;
/// the gateway has checked the sender of such a call already.
struct Guard {
    private let endpoint: UPMCCall
    private let parameters: Parameters
    private let settings: UPMCSettings
    private let secrets: [String: [UInt8]]

    init(_ endpoint: UPMCCall, _ parameters: Parameters, _ settings: UPMCSettings, _ secrets: [String: [UInt8]]) {
        self.endpoint = endpoint
        self.parameters = parameters
        self.settings = settings
        self.secrets = secrets
    }

    /// - Throws: `AdapterError(.unauthorized)`.
    func check(_ request: VendorRequest) throws(AdapterError) {
        guard settings.needsKey, endpoint.caller == .device, !isExempt else { return }
        guard hasKey(request) else { throw AdapterError(.unauthorized) }
    }

    /// Calls before a key is issued, and those of the web's service worker, which has no key (docs/contracts/upmc.md#1.4).
    private var isExempt: Bool {
        switch endpoint {
        case .askingAuthorization, .encryptionKey, .putLog: true
        case .acknowledge, .read: parameters.all("PNSID").last?.uppercased() == DeviceName.Network.web.rawValue
        default: false  // all other calls of apps
        }
    }

    /// Whether the call shows a valid key of the gateway.
    func hasKey(_ request: VendorRequest) -> Bool {
        AuthKey(applicationID: settings.applicationID, secret: secrets[UPMCSettings.secretName]).accepts(
            parameters.echo("AUTHKEY"),
            user: parameters.echo("CUID"),
            token: parameters.echo("PSID"),
            now: request.receivedAt
        )
    }
}
