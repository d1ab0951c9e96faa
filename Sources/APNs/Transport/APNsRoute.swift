internal import ApplePayload
internal import HTTP2
internal import Model

/// Where one credential's pushes go. Both environments are the same pool where a simulator stands for both.
struct APNsRoute {
    let credential: APNsCredential
    /// Nil where the certificate is not for it.
    let production: ConnectionPool?
    let sandbox: ConnectionPool?

    var pools: [ConnectionPool] {
        var pools = [production, sandbox].compactMap(\.self)
        if production === sandbox { pools = Array(pools.prefix(1)) }
        return pools
    }

    func pool(_ environment: PushEnvironment) -> ConnectionPool? { environment == .production ? production : sandbox }

    /// What Apple would say to a push through a certificate that does not cover it, or nil; asking would cost a connection.
    ///
    /// A certificate lists whole topics, with the push type's suffix. If it has the app but not this type, the push alone is wrong; `location`
    /// goes by provider token only, whatever a certificate lists (docs/contracts/apns.md#4).
    static func refusal(of push: Push, by identity: TLSIdentity) -> Rejection? {
        let certificate = identity.certificate
        let named = certificate.pushScope.environments
        if !named.isEmpty, !named.contains(push.environment == .production ? .production : .sandbox) {
            return Rejection(scope: .credential, reason: APNsReason.badCertificateEnvironment.wireName, status: 0)
        }
        let topics = certificate.topics
        let rule = push.payload.type.rule
        guard rule.isTokenOnly || !topics.isEmpty && !topics.contains(push.topic + rule.topicSuffix) else { return nil }
        let scope: Rejection.Scope = rule.isTokenOnly || topics.contains(push.topic) ? .content : .credential
        return Rejection(scope: scope, reason: APNsReason.topicDisallowed.wireName, status: 0)
    }
}
