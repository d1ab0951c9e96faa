/// Registers back ends that send messages, where a vendor requires it.
package enum SenderCommand: Sendable, Hashable {
    /// Registers a back end by name; the same name gives the same sender. Refused with `.unauthorized` if a proven caller registered the name and this one
    /// is not proven (`CallScope.isProvenSender`).
    case register(name: String)
    /// Permits a registered back end to send messages. `address` is the address that it specifies.
    case enrol(SenderID, name: String?, address: String?)
    /// Stores a back end that an upstream has registered, under the upstream's id. Only the answer of an upstream becomes this command.
    case adopt(AdoptedSender)
    /// Nil removes the callback.
    case setCallback(SenderID, url: String?)
}

/// A back end as an upstream has registered it.
package struct AdoptedSender: Sendable, Hashable {
    package var id: SenderID
    /// The name under which it was registered. Nil: not known.
    package var name: String?
    /// The upstream's key of its enrolment. Nil: it is not enrolled by this call.
    package var enrolmentKey: String?
    /// The address that it specifies.
    package var address: String?

    package init(id: SenderID, name: String? = nil, enrolmentKey: String? = nil, address: String? = nil) {
        self.id = id
        self.name = name
        self.enrolmentKey = enrolmentKey
        self.address = address
    }
}

/// The result of a sender command.
package enum SenderReply: Sendable, Hashable {
    case registered(SenderID)
    /// `isNew` is false when the sender was enrolled before.
    case enrolled(key: String, isNew: Bool)
    case callbackSet
}
