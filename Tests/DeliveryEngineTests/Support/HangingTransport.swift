import Model
import TestKit

/// Never answers for one tenant, or for tokens with one beginning; the others go to `inner`.
struct HangingTransport: PushTransport {
    let inner: ScriptedTransport
    var tenant: TenantID?
    /// The beginning of the tokens that hang.
    var lane: String?

    var name: String { inner.name }

    func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let hangs = credential.tenant == tenant || lane.map { batch.first?.token.text.hasPrefix($0) == true } == true
        // Ends only when its reader gives up, as a connection to a silent peer would.
        return hangs ? AsyncStream { _ in } : inner.send(batch, through: credential, deadline: deadline)
    }
}
