import Crypto
import HTTPTypes
import Model

/// Checks whether a call is authorized: apps by `AUTHKEY` if the binding requires it, senders by the operator's key if there is one.
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
        if endpoint.isSend {
            guard let key = secrets[UPMCSettings.sendSecretName] else { return }
            // An app with a valid `AUTHKEY` may send, as the vendor's library does.
            guard Self.shows(key, request) || settings.needsKey && hasKey(request) else {
                throw AdapterError(.unauthorized)
            }
            return
        }
        guard settings.needsKey, !isExempt else { return }
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

    private func hasKey(_ request: VendorRequest) -> Bool {
        AuthKey(applicationID: settings.applicationID, secret: secrets[UPMCSettings.secretName]).accepts(
            parameters.echo("AUTHKEY"),
            user: parameters.echo("CUID"),
            token: parameters.echo("PSID"),
            now: request.receivedAt
        )
    }

    /// Checks `X-Gateway-Key`. The time of the comparison does not reveal how much of the key is right.
    private static func shows(_ key: [UInt8], _ request: VendorRequest) -> Bool {
        guard let name = HTTPField.Name("X-Gateway-Key"), let shown = request.headers[name] else { return false }
        return SHA256.hash(data: Array(shown.utf8)) == SHA256.hash(data: key)
    }
}
