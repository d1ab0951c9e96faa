package import Model

/// Selects the route of one delivery. Pure: the same facts give the same route on every node.
package struct Router: Sendable {
    package init() {}

    /// The route to `target`.
    ///
    /// - Parameters:
    ///   - target: its platform and environment decide.
    ///   - topic: the app's topic on that platform; empty if it was not provisioned.
    ///   - credentials: the app's credentials on that platform.
    /// - Returns: `.none` if nothing is provisioned. Only the operator can fix that, so the delivery waits until it expires.
    package func route(
        to target: TargetFacts,
        topic: String,
        credentials: [PushEnvironment: CredentialID]
    ) -> Route {
        route(
            to: target.destination.platform,
            target.destination.environment,
            topic: topic,
            credentials: credentials
        )
    }

    /// The route to the devices of a platform and environment.
    package func route(
        to platform: Platform,
        _ environment: PushEnvironment,
        topic: String,
        credentials: [PushEnvironment: CredentialID]
    ) -> Route {
        guard let credential = credentials[environment] else { return .none }
        // APNs refuses a push without a topic for the whole credential (MissingTopic). One misconfigured app must not stop the credential.
        if platform == .ios && topic.isEmpty { return .none }
        return .direct(credential)
    }
}
