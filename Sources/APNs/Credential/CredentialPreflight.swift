internal import HTTP2
package import Model

/// One use of a credential: one platform of one app.
package struct CredentialUse: Sendable, Hashable {
    /// The topic of the pushes, without the suffix of a push type.
    package var topic: String
    package var environment: PushEnvironment

    package init(topic: String, environment: PushEnvironment) {
        self.topic = topic
        self.environment = environment
    }
}

/// The results of the checks before anything is sent, for `doctor`, `/readyz` and the metric of days to expiry.
package struct CredentialPreflight: Sendable, Equatable {
    /// Problems and oddities, the fatal ones first.
    package let findings: [CredentialFinding]
    /// When the certificate expires; nil for a key, which does not expire.
    package let expiresAt: Timestamp?
    /// Whole days until it expires, negative after that; nil for a key.
    package let daysToExpiry: Int64?
    /// The topics that it names; empty for a key that serves every topic of its team.
    package let topics: [String]

    /// Whether the credential can send everything that it is used for.
    package var isUsable: Bool { !findings.contains(where: \.isFatal) }
}

extension APNsCredential {
    /// Checks expiry, scope and environment without a request to Apple. It signs once, which takes well under a millisecond.
    ///
    /// - Parameters:
    ///   - uses: the uses of the credential.
    ///   - now: the database's time, like every other time that is compared with Apple's.
    /// - Returns: the findings.
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
