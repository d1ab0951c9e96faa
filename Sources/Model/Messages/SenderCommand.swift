/// Registers back ends that send messages, where a vendor requires it.
package enum SenderCommand: Sendable, Hashable {
    /// Registers a back end by name; the same name gives the same sender. Refused with `.unauthorized` if a proven caller registered the name and this one
    /// is not proven (`CallScope.isProvenSender`).
    case register(name: String)
    /// Permits a registered back end to send messages. `address` is the address that it specifies.
    case enrol(SenderID, name: String?, address: String?)
    /// Nil removes the callback.
    case setCallback(SenderID, url: String?)
}

/// The result of a sender command.
package enum SenderReply: Sendable, Hashable {
    case registered(SenderID)
    /// `isNew` is false when the sender was enrolled before.
    case enrolled(key: String, isNew: Bool)
    case callbackSet
}
