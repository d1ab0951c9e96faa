package import Model
import PostgresClient

/// Encodes the consents of a user as the JSON of the row.
package enum ConsentCoding {
    static func json(_ consents: [String: ConsentState]) -> JSON {
        var object = JSONObject()
        for (subject, state) in consents.sorted(by: { $0.key < $1.key }) { object[subject] = .string(state.rawValue) }
        return .object(object)
    }

    static func read(_ object: JSONObject) -> [String: ConsentState] {
        var consents: [String: ConsentState] = [:]
        for (subject, state) in object.pairs { consents[subject] = state.string.flatMap(ConsentState.init) }
        return consents
    }

    /// The consents with what is known about them, in the order of their subjects.
    package static func recorded(_ states: JSONObject, _ facts: JSONObject) -> [RecordedConsent] {
        read(states).sorted { $0.key < $1.key }.map { subject, state in
            RecordedConsent(
                subject: subject,
                state: state,
                at: facts[subject]?["at"]?.string.flatMap { Timestamp(rfc3339: $0) },
                source: facts[subject]?["source"]?.string
            )
        }
    }
}
