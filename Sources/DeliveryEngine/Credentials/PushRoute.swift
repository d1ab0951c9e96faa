package import Model

/// The pushes that a push service accepts or refuses together: those of one app through one credential.
package struct PushRoute: Sendable, Hashable {
    package var key: CredentialKey
    package var app: AppID
    package var topic: String
    package var environment: PushEnvironment
    /// The push type if its topic is not the app's own; otherwise nil.
    package var type: PushType?
    /// Whether it leads to an upstream, which counts calls instead of pushes.
    package var isUpstream: Bool

    package init(
        _ key: CredentialKey,
        app: AppID = "",
        topic: String = "",
        environment: PushEnvironment = .production,
        type: PushType = .alert,
        isUpstream: Bool = false
    ) {
        self.key = key
        self.app = app
        self.topic = topic
        self.environment = environment
        self.type = type.hasOwnTopic ? type : nil
        self.isUpstream = isUpstream
    }

    /// Whether the other route differs in nothing but its topic: the app's topic was corrected.
    func replaces(_ other: PushRoute) -> Bool {
        var same = other
        same.topic = topic
        return self == same && topic != other.topic
    }
}

extension PushType {
    /// Whether the topic of its pushes is not that of the app's notifications.
    var hasOwnTopic: Bool {
        switch self {
        case .alert, .background: false
        default: true
        }
    }
}
