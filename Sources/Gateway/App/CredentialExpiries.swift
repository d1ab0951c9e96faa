import Metrics
import Model
import NIOConcurrencyHelpers
import Observability

/// When the certificates in use end, for the days-to-expiry metric. Filled as credentials are opened, read when somebody looks.
final class CredentialExpiries: Sendable {
    private let ends = NIOLockedValueBox<[CredentialKey: Timestamp]>([:])

    /// Nil: a signing key, which does not end, or a credential that is gone.
    func note(_ key: CredentialKey, _ end: Timestamp?) { ends.withLockedValue { $0[key] = end } }

    /// Sets `credential_days_to_expiry` of each; negative once it has ended.
    func show(at now: Timestamp) {
        for (key, end) in ends.withLockedValue({ $0 }) {
            let labels = [("tenant", key.tenant.rawValue), ("credential", key.credential.rawValue)]
            let days = (end - now).components.seconds / 86_400
            MetricName.credentialDays.meter(labels).set(Double(days))
        }
    }
}
