import Model

/// The columns about users and times.
extension DeviceLine {
    /// The facts of a row in addition to its registration.
    ///
    /// - Throws: `Fault` that names the field.
    static func imported(_ fields: [String: JSON], of user: UserID?) throws(Fault) -> ImportedFacts {
        var facts = ImportedFacts()
        facts.acceptsPush = try flag("acceptsPush", fields)
        facts.consents = try consents(fields)
        facts.groups = try groups(fields)
        if let text = try text("badge", fields) {
            guard let badge = Int32(text), badge >= 0 else {
                throw Fault(reason: "badge: must be a whole number, 0 or more")
            }
            facts.badge = badge
        }
        facts.registeredAt = try time(try text("registeredAt", fields), "registeredAt")
        if user == nil, !facts.consents.isEmpty { throw Fault(reason: "consents: need a user") }
        if user == nil, !(facts.groups ?? []).isEmpty { throw Fault(reason: "groups: need a user") }
        return facts
    }

    /// The facts of the client; a column of its own counts before the member of `client`.
    static func client(_ fields: [String: JSON]) throws(Fault) -> ClientFacts {
        var client = ClientFacts()
        if let value = fields["client"] {
            guard let object = value.object else { throw Fault(reason: "client: must be an object") }
            client = ClientFacts(object)
        }
        client.set(.appVersion, try text("appVersion", fields))
        return client
    }

    static func flag(_ name: String, _ fields: [String: JSON]) throws(Fault) -> Bool? {
        switch fields[name] {
        case nil: return nil
        case .bool(let value): return value
        case .string("true"): return true
        case .string("false"): return false
        default: throw Fault(reason: "\(name): must be true or false")
        }
    }

    private static func time(_ text: String?, _ name: String) throws(Fault) -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw Fault(reason: "\(name): must be a time like 2026-12-25T13:30:00Z")
        }
        return time
    }

    /// The consents by subject, each as its state, or as an object with `state`, `at` and `source`.
    static func consents(_ fields: [String: JSON]) throws(Fault) -> [RecordedConsent] {
        guard let value = fields["consents"] else { return [] }
        guard let object = value.object else { throw Fault(reason: "consents: must be an object") }
        var consents: [RecordedConsent] = []
        for (subject, said) in object.pairs {
            let facts: JSONObject = said.object ?? ["state": said]
            guard let state = facts["state"]?.string.flatMap(ConsentState.init) else {
                let states = ConsentState.allCases.map(\.rawValue).joined(separator: " or ")
                throw Fault(reason: "consents: the state of '\(subject.prefix(64))' must be \(states)")
            }
            consents.append(
                RecordedConsent(
                    subject: subject,
                    state: state,
                    at: try time(try text("at", of: facts), "consents"),
                    source: try text("source", of: facts)
                )
            )
        }
        return consents.sorted { $0.subject < $1.subject }
    }

    private static func text(_ name: String, of facts: JSONObject) throws(Fault) -> String? {
        switch facts[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw Fault(reason: "consents: \(name) must be text")
        }
    }

    private static func groups(_ fields: [String: JSON]) throws(Fault) -> [String]? {
        guard let value = fields["groups"] else { return nil }
        guard let array = value.array else { throw Fault(reason: "groups: must be an array") }
        var groups: Set<String> = []
        for element in array {
            guard let name = element.string else { throw Fault(reason: "groups: must contain texts") }
            groups.insert(name)
        }
        return groups.sorted()
    }
}
