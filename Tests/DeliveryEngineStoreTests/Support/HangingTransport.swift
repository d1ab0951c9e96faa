import Model
import NIOConcurrencyHelpers
import TestKit

/// Never answers for one tenant, or for tokens with a certain prefix; other pushes go to `inner`.
struct HangingTransport: PushTransport {
    let inner: ScriptedTransport
    var tenant: TenantID?
    /// The prefix of the tokens that hang.
    var prefix: String?
    /// The number of pushes that were sent and never answered.
    let asked = NIOLockedValueBox(0)

    var name: String { inner.name }

    func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let hangs = credential.tenant == tenant || prefix.map { batch.first?.token.text.hasPrefix($0) == true } == true
        if hangs { asked.withLockedValue { $0 += batch.count } }
        // Ends only when its reader gives up, like a connection to a silent peer.
        return hangs ? AsyncStream { _ in } : inner.send(batch, through: credential, deadline: deadline)
    }

    func drain() { inner.drain() }
}
