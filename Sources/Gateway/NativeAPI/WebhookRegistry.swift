import Model
package import Secrets
package import Webhooks

/// The webhooks of all tenants as the native API uses them: their secrets, and the addresses that they may name.
package struct WebhookRegistry: Sendable {
    /// 2048 bytes: longer addresses are refused by servers along the way.
    static let urlLimitBytes = 2048
    /// 32 to 128 bytes: at least as strong as what it keys, and no document.
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

    /// An address that could be called now. What its name means is judged again at every call.
    ///
    /// - Throws: `Problem`.
    func url(_ text: String) throws(Problem) -> String {
        guard let target = CallbackTarget(text) else {
            throw .invalid("url", "must be http or https with a plain host")
        }
        if let literal = IPAddress(target.host), !addresses.permits(literal) {
            throw .invalid("url", "is no address that this gateway may call")
        }
        return target.url
    }
}
