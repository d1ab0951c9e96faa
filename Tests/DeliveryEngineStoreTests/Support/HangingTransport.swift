import Model
import NIOConcurrencyHelpers
import TestKit

/// Never answers for one tenant, or for tokens with one beginning; the others go to `inner`.
struct HangingTransport: PushTransport {
    let inner: ScriptedTransport
    var tenant: TenantID?
    /// The beginning of the tokens that hang.
    var prefix: String?
    /// How many pushes were asked for and never answered.
    let asked = NIOLockedValueBox(0)

    var name: String { inner.name }

    func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let hangs = credential.tenant == tenant || prefix.map { batch.first?.token.text.hasPrefix($0) == true } == true
        if hangs { asked.withLockedValue { $0 += batch.count } }
        // Ends only when its reader gives up, as a connection to a silent peer would.
        return hangs ? AsyncStream { _ in } : inner.send(batch, through: credential, deadline: deadline)
    }
}
