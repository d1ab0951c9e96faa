import Metrics
import Model
import NIOConcurrencyHelpers
import Observability

/// The expiry times of the certificates in use, for the days-to-expiry metric. Opening a credential adds its time; a scrape of the metrics reads it.
final class CredentialExpiries: Sendable {
    private let ends = NIOLockedValueBox<[CredentialKey: Timestamp]>([:])

    /// Notes the expiry of a credential. Nil: a signing key, which does not expire, or a removed credential.
    func note(_ key: CredentialKey, _ end: Timestamp?) { ends.withLockedValue { $0[key] = end } }

    /// Sets `credential_days_to_expiry` of each credential. The value is negative after the expiry.
    func show(at now: Timestamp) {
        for (key, end) in ends.withLockedValue({ $0 }) {
            let labels = [("tenant", key.tenant.rawValue), ("credential", key.credential.rawValue)]
            let days = (end - now).components.seconds / 86_400
            MetricName.credentialDays.meter(labels).set(Double(days))
        }
    }
}
