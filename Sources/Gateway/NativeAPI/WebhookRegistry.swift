import GatewayHTTP
import Model
package import Outgoing
package import Secrets

/// The webhooks of all tenants for the native API: their secrets, and their permitted addresses.
package struct WebhookRegistry: Sendable {
    /// 2048 bytes: many servers refuse longer addresses.
    static let urlLimitBytes = 2048
    /// 32 to 128 bytes: at least the strength of the HMAC, and too short for other content such as a document.
    static let secretBytes = 32...128

    let secrets: WebhookSecrets
    package let addresses: AddressGuard

    package init(secrets: WebhookSecrets, addresses: AddressGuard) {
        self.secrets = secrets
        self.addresses = addresses
    }

    /// Seals `secret` for this webhook.
    ///
    /// - Throws: `Problem`.
    func seal(_ secret: String, of id: WebhookID, in tenant: TenantID) throws(Problem) -> SealedSecret {
        do throws(MasterKeyError) { return try secrets.seal(secret, of: id, in: tenant) } catch {
            throw .unavailable(5)
        }
    }

    /// Checks that the gateway may call an address now. The addresses of its host are checked again at every call.
    ///
    /// - Throws: `Problem`.
    func url(_ text: String) throws(Problem) -> String {
        guard let target = OutgoingURL(text) else {
            throw .invalid("url", "must be http or https with a plain host")
        }
        guard !CallbackHost.isObscureAddress(target.host) else {
            throw .invalid("url", "write an IPv4 address as four decimal numbers")
        }
        if let literal = IPAddress(target.host), !addresses.permits(literal) {
            throw .invalid("url", "is not an address that this gateway may call")
        }
        return target.url
    }
}
