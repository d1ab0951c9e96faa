/// What the rules ask about the world outside of a request: the simulator's stand-in for Apple's registries.
///
/// Functions, because each registry has its own lock; they are called while a request is judged, on its connection's event loop.
package struct WorldFacts: Sendable {
    /// The scripted answer that is due for a token; asking uses one of its `times` up.
    package var scriptedAnswer: @Sendable (_ token: String) -> ScriptedAnswer?

    /// Counts a push and says whether it is one too many for the token (row 28).
    package var isOverRate: @Sendable (_ token: String, _ now: Int) -> Bool

    /// What was registered about a device token; nil for one that nobody registered (rows 22 to 24).
    package var device: @Sendable (_ token: String) -> RegisteredDevice?

    /// Whether a provider key was revoked after the start (row 12).
    package var isRevoked: @Sendable (_ keyID: String) -> Bool

    /// Finds, makes and deletes channels (rows 46 to 55).
    package var channels: ChannelFacts

    /// Facts from these functions; without any, nothing is known.
    package init(
        scriptedAnswer: @escaping @Sendable (_ token: String) -> ScriptedAnswer? = { _ in nil },
        isOverRate: @escaping @Sendable (_ token: String, _ now: Int) -> Bool = { _, _ in false },
        device: @escaping @Sendable (_ token: String) -> RegisteredDevice? = { _ in nil },
        isRevoked: @escaping @Sendable (_ keyID: String) -> Bool = { _ in false },
        channels: ChannelFacts = ChannelFacts()
    ) {
        self.scriptedAnswer = scriptedAnswer
        self.isOverRate = isOverRate
        self.device = device
        self.isRevoked = isRevoked
        self.channels = channels
    }
}

/// The doors to the channel registry.
package struct ChannelFacts: Sendable {
    /// The channel with this id.
    package var find: @Sendable (_ bundle: String, _ id: String) -> BroadcastChannel?

    /// Makes a channel; nil when the app has its 10,000.
    package var create: @Sendable (_ bundle: String, _ storesNewest: Bool) -> BroadcastChannel?

    /// Deletes a channel; false when there is none.
    package var delete: @Sendable (_ bundle: String, _ id: String) -> Bool

    /// Every channel's id, in the order they were made.
    package var list: @Sendable (_ bundle: String) -> [String]

    /// Doors to these functions; without any, there are no channels and none can be made.
    package init(
        find: @escaping @Sendable (_ bundle: String, _ id: String) -> BroadcastChannel? = { _, _ in nil },
        create: @escaping @Sendable (_ bundle: String, _ storesNewest: Bool) -> BroadcastChannel? = { _, _ in nil },
        delete: @escaping @Sendable (_ bundle: String, _ id: String) -> Bool = { _, _ in false },
        list: @escaping @Sendable (_ bundle: String) -> [String] = { _ in [] }
    ) {
        self.find = find
        self.create = create
        self.delete = delete
        self.list = list
    }
}
