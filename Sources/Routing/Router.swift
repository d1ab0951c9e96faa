package import Model

/// Picks the way of one delivery. Pure: the same facts give the same route on every node.
package struct Router: Sendable {
    package init() {}

    /// The way to `target`.
    ///
    /// - Parameters:
    ///   - target: whose platform and environment decide.
    ///   - topic: the app's topic on that platform; empty where it was not provisioned.
    ///   - credentials: the app's credentials on that platform.
    /// - Returns: `.none` where nothing is provisioned: that is the operator's to mend, so such a delivery waits until it expires.
    package func route(
        to target: TargetFacts,
        topic: String,
        credentials: [PushEnvironment: CredentialID]
    ) -> Route {
        guard let credential = credentials[target.destination.environment] else { return .none }
        // APNs refuses a push without topic for the whole credential (MissingTopic): do not let one bad app stop it.
        if target.destination.platform == .ios && topic.isEmpty { return .none }
        return .direct(credential)
    }
}
