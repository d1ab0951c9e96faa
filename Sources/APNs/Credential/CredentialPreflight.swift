internal import HTTP2
package import Model

/// What a credential is wanted for: one platform of one app.
package struct CredentialUse: Sendable, Hashable {
    /// The topic that pushes name, without a push type's suffix.
    package var topic: String
    package var environment: PushEnvironment

    package init(topic: String, environment: PushEnvironment) {
        self.topic = topic
        self.environment = environment
    }
}

/// What can be said of a credential before anything is sent: for `doctor`, `/readyz` and the days-to-expiry metric.
package struct CredentialPreflight: Sendable, Equatable {
    /// What is wrong or odd, the fatal ones first.
    package let findings: [CredentialFinding]
    /// When it ends; nil for a key, which does not.
    package let expiresAt: Timestamp?
    /// Whole days until then, negative once it has ended; nil for a key.
    package let daysToExpiry: Int64?
    /// What it names as its topics; empty for a key that serves every topic of its team.
    package let topics: [String]

    /// Whether everything can be sent that it is wanted for.
    package var isUsable: Bool { !findings.contains(where: \.isFatal) }
}

extension APNsCredential {
    /// Looks at expiry, scope and environment without asking Apple. Signs once, in well under a millisecond.
    ///
    /// - Parameters:
    ///   - uses: what it is wanted for.
    ///   - now: the database's time, like every other time that is compared with Apple's.
    /// - Returns: what was found.
    package func preflight(for uses: [CredentialUse], at now: Timestamp) -> CredentialPreflight {
        var kinds = credentialCheck().map(\.kind)
        var expiresAt: Timestamp?
        var daysLeft: Int64?
        var topics: [String] = []
        switch proof {
        case .token(let key):
            topics = key.topics ?? []
            if let named = key.topics { kinds += unserved(uses) { named.contains($0) } }
        case .certificate(let identity):
            let certificate = identity.certificate
            topics = certificate.topics
            let days = certificate.daysLeft(at: now.seconds)
            daysLeft = days
            expiresAt = Timestamp(seconds: certificate.notAfterSeconds)
            if certificate.notBeforeSeconds > now.seconds { kinds.append(.notYetValid) }
            if certificate.notAfterSeconds < now.seconds {
                kinds.append(.expired)
            } else if days <= Self.expiryWarningDays {
                kinds.append(.expiresSoon(days: days))
            }
            for environment in [PushEnvironment.production, .sandbox]
            where !fits(environment) && uses.contains(where: { $0.environment == environment }) {
                kinds.append(.wrongEnvironment(environment))
            }
            if !topics.isEmpty { kinds += unserved(uses) { topics.contains($0) } }
        }
        let findings = kinds.map(CredentialFinding.init)
        return CredentialPreflight(
            findings: findings.filter(\.isFatal) + findings.filter { !$0.isFatal },
            expiresAt: expiresAt,
            daysToExpiry: daysLeft,
            topics: topics
        )
    }

    private func unserved(_ uses: [CredentialUse], _ isServed: (String) -> Bool) -> [CredentialFinding.Kind] {
        Set(uses.map(\.topic)).filter { !isServed($0) }.sorted().map { .topicNotServed($0) }
    }
}
