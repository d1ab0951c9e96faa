internal import ApplePayload
internal import HTTP2
internal import Model

/// The pools of one credential's pushes. Both environments use the same pool if one simulator serves both.
struct APNsRoute {
    let credential: APNsCredential
    /// Nil if the certificate is not valid for this environment.
    let production: ConnectionPool?
    let sandbox: ConnectionPool?

    var pools: [ConnectionPool] {
        var pools = [production, sandbox].compactMap(\.self)
        if production === sandbox { pools = Array(pools.prefix(1)) }
        return pools
    }

    func pool(_ environment: PushEnvironment) -> ConnectionPool? { environment == .production ? production : sandbox }

    /// Apple's refusal of a push whose certificate does not cover it, or nil; sending the push would cost a connection.
    ///
    /// A certificate lists whole topics, with the push type's suffix. If it has the app but not this type, only the push is wrong. `location` pushes need a
    /// provider token, whatever a certificate lists (docs/contracts/apns.md#4).
    static func refusal(of push: Push, by identity: TLSIdentity) -> Rejection? {
        let certificate = identity.certificate
        let named = certificate.pushScope.environments
        if !named.isEmpty, !named.contains(push.environment == .production ? .production : .sandbox) {
            return Rejection(scope: .credential, reason: APNsReason.badCertificateEnvironment.wireName, status: 0)
        }
        let topics = certificate.topics
        let rule = push.payload.type.rule
        guard rule.isTokenOnly || !topics.isEmpty && !topics.contains(push.topic + rule.topicSuffix) else { return nil }
        let scope: Rejection.Scope = rule.isTokenOnly || topics.contains(push.topic) ? .content : .topic
        return Rejection(scope: scope, reason: APNsReason.topicDisallowed.wireName, status: 0)
    }
}
