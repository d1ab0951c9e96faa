import Model
import Webhooks

/// What the native API and the dispatcher need of webhooks beyond their rows: their secrets, and which addresses they may name.
struct WebhookDesk: Sendable {
    /// 20 webhooks of one tenant: each is a reader of its whole log.
    static let perTenant = 20
    /// 2048 bytes: longer addresses are refused by servers along the way.
    static let urlLimitBytes = 2048
    /// 32 to 128 bytes: at least as strong as what it keys, and no document.
    static let secretBytes = 32...128

    let store: any SubscriptionStore
    let masterKey: MasterKey
    let identifiers: any IdentifierSource
    let addresses: AddressGuard

    /// 256 random bits, recognisable to people and to scanners of leaked secrets.
    func newSecret() -> String { "whsec_" + identifiers.randomHex(byteCount: 32) }

    /// Seals `secret` for this webhook: it opens for no other.
    ///
    /// - Throws: `Problem`.
    func seal(_ secret: String, of id: WebhookID, in tenant: TenantID) throws(Problem) -> SealedSecret {
        do throws(MasterKeyError) {
            let bytes = try masterKey.seal(Array(secret.utf8), context: Self.context(id, tenant))
            return SealedSecret(keyID: "whk_" + identifiers.randomHex(byteCount: 4), bytes: bytes)
        } catch {
            throw .unavailable(5)
        }
    }

    /// The secret; nil when it was sealed with another master key.
    func open(_ secret: SealedSecret, of id: WebhookID, in tenant: TenantID) -> [UInt8]? {
        do throws(MasterKeyError) {
            return try masterKey.open(secret.bytes, context: Self.context(id, tenant))
        } catch {
            return nil
        }
    }

    private static func context(_ id: WebhookID, _ tenant: TenantID) -> String { "webhook \(tenant) \(id)" }

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
