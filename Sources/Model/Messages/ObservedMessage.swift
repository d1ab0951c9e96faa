/// A message that an upstream sent, as a proxied call and its answer show it. The gateway stores it and never sends it.
package struct ObservedMessage: Sendable, Hashable {
    /// 16 names: more than any dialect's answer has.
    package static let referenceLimit = 16

    /// The message as the call describes it. Its sender, its repeat key and its pace have no effect.
    package var submission: Submission
    /// The upstream's names of the message, by which devices and back ends speak of it. Empty: the answer has none, and no receipt finds the message.
    package var references: [String]
    /// The addressees that the upstream says it does not know.
    package var unknown: Set<Address>
    /// The number that the upstream has given the message, if it counts its messages: the numbers of the gateway must stay above it.
    package var number: Int64?
    /// Whether the upstream sends a paid message to a device that does not report this one.
    package var hasPaidFallback: Bool
    /// The upstream. The gateway sets it.
    package var upstream: CredentialID?

    package init(
        _ submission: Submission,
        references: [String],
        unknown: Set<Address> = [],
        number: Int64? = nil,
        hasPaidFallback: Bool = false
    ) {
        self.submission = submission
        self.references = Array(references.prefix(Self.referenceLimit))
        self.unknown = unknown
        self.number = number
        self.hasPaidFallback = hasPaidFallback
    }
}

/// How many targets of an observed send the gateway could have pushed to.
package struct ObservedReach: Sendable, Hashable {
    /// The targets that the call names and the upstream knows. For an audience: the registrations that the gateway knows in the call's dialect.
    package var known: Int
    /// Those of the named targets to whom the gateway could have pushed. Nil: the call names an audience.
    package var reachable: Int?

    package init(known: Int, reachable: Int?) {
        self.known = known
        self.reachable = reachable
    }
}

/// The side that sent a message.
package enum MessageOwner: Sendable, Hashable {
    /// No message with the name is known.
    case unknown
    case gateway
    /// `hasPaidFallback`: the upstream sends a paid message to a device that does not report this one.
    case upstream(CredentialID, hasPaidFallback: Bool)
}

extension [Command] {
    /// Replaces each submission by an observed message.
    ///
    /// - Parameter observed: makes the observed message of a submission.
    /// - Returns: the same commands otherwise.
    package func observing(_ observed: (Submission) -> ObservedMessage) -> [Command] {
        map { command in
            guard case .submission(.submit(let submission)) = command else { return command }
            return .submission(.observe(observed(submission)))
        }
    }
}
