/// The facts outside of a request that the rules need: the simulator's replacement for Apple's registries.
///
/// They are functions, because each registry has its own lock; they are called while a request is judged, on its connection's event loop.
package struct WorldFacts: Sendable {
    /// The next scripted answer for a token; a call uses up one of its `times`.
    package var scriptedAnswer: @Sendable (_ token: String) -> ScriptedAnswer?

    /// Counts a push and returns whether it exceeds the token's rate (row 28).
    package var isOverRate: @Sendable (_ token: String, _ now: Int) -> Bool

    /// The registered facts of a device token; nil if it was not registered (rows 22 to 24).
    package var device: @Sendable (_ token: String) -> RegisteredDevice?

    /// Whether a provider key was revoked after the start (row 12).
    package var isRevoked: @Sendable (_ keyID: String) -> Bool

    /// Finds, creates and deletes channels (rows 46 to 55).
    package var channels: ChannelFacts

    /// Creates facts from these functions; by default no facts exist.
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

/// Access to the channel registry.
package struct ChannelFacts: Sendable {
    /// The channel with this id.
    package var find: @Sendable (_ bundle: String, _ id: String) -> BroadcastChannel?

    /// Creates a channel; nil if the app has its 10,000 channels.
    package var create: @Sendable (_ bundle: String, _ storesNewest: Bool) -> BroadcastChannel?

    /// Deletes a channel; false if it does not exist.
    package var delete: @Sendable (_ bundle: String, _ id: String) -> Bool

    /// The ids of all channels, in the order of their creation.
    package var list: @Sendable (_ bundle: String) -> [String]

    /// Creates access from these functions; by default no channel exists and none can be created.
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
