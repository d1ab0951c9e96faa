/// The facts of a device file about a device in addition to its registration. Nil fields, and no consents, leave what is stored.
package struct ImportedFacts: Sendable, Hashable {
    /// Whether the user wants pushes on the device.
    package var acceptsPush: Bool?
    /// The decisions of the user, in the order of their subjects.
    package var consents: [RecordedConsent]
    /// The groups of the user, each once.
    package var groups: [String]?
    /// The number at the app's icon.
    package var badge: Int32?
    /// When the device registered.
    package var registeredAt: Timestamp?

    package init(
        acceptsPush: Bool? = nil,
        consents: [RecordedConsent] = [],
        groups: [String]? = nil,
        badge: Int32? = nil,
        registeredAt: Timestamp? = nil
    ) {
        self.acceptsPush = acceptsPush
        self.consents = consents
        self.groups = groups
        self.badge = badge
        self.registeredAt = registeredAt
    }
}

/// A user's decision about a subject, with what is known about it.
package struct RecordedConsent: Sendable, Hashable {
    package var subject: String
    package var state: ConsentState
    /// When the user decided; nil: not known.
    package var at: Timestamp?
    /// The system that reported the decision, such as `import/…`; nil: a call, or not known.
    package var source: String?

    package init(subject: String, state: ConsentState, at: Timestamp? = nil, source: String? = nil) {
        self.subject = subject
        self.state = state
        self.at = at
        self.source = source
    }

    /// The decisions by subject, in the order of the subjects, as files and the store write them.
    package static func json(_ consents: [RecordedConsent]) -> JSON {
        var object = JSONObject()
        for consent in consents.sorted(by: { $0.subject < $1.subject }) {
            var facts = JSONObject()
            facts["state"] = .string(consent.state.rawValue)
            facts["at"] = consent.at.map { .string($0.rfc3339) }
            facts["source"] = consent.source.map { .string($0) }
            object[consent.subject] = .object(facts)
        }
        return .object(object)
    }
}
