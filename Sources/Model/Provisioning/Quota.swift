/// A number that the operator limits, exactly over all nodes. The raw value is the name of the setting.
package enum Quota: String, Sendable, Hashable, CaseIterable {
    /// Recipients to whom an API key has sent on one UTC day.
    case recipientsPerDay
    /// Active identities of an app, of every vendor.
    case identities
    /// Identities of an app that were registered on one UTC day, also again after an end. Imported ones do not count.
    case registrationsPerDay
    /// Back ends of an app.
    case senders
    /// Groups of an app, of every vendor.
    case groups

    /// The quotas that an app can set (`quotas`). The function `quota_of` of the schema has their defaults.
    package static let ofApps: [Quota] = [.identities, .registrationsPerDay, .senders, .groups]
}

extension Quota {
    /// How long a refused caller waits before it tries again.
    package func wait(at now: Timestamp) -> Duration {
        switch self {
        case .recipientsPerDay, .registrationsPerDay: .seconds(86_400 - now.seconds % 86_400)
        // It is available again when something is removed or the operator raises the quota.
        case .identities, .senders, .groups: .seconds(3600)
        }
    }
}
