package import Model
package import PostgresClient

/// A back end that sends.
package struct SenderFacts: Sendable, Hashable {
    package var id: SenderID
    /// Nil until the sender is enrolled.
    package var enrolmentKey: String?
    /// Whether this operation enrolled the sender.
    package var isNew: Bool
    package var callbackURL: String?

    package init(id: SenderID, enrolmentKey: String? = nil, isNew: Bool = false, callbackURL: String? = nil) {
        self.id = id
        self.enrolmentKey = enrolmentKey
        self.isNew = isNew
        self.callbackURL = callbackURL
    }
}

extension SenderFacts {
    /// The columns that `read` needs.
    package static let columns = "sender_id, enrolment_key, callback_url"

    /// Reads the sender from the row of the result, if it has one.
    package static func read(_ result: ResultSet) throws(PostgresError) -> SenderFacts? {
        guard let row = result.first else { return nil }
        return SenderFacts(
            id: try row.id("sender_id"),
            enrolmentKey: try row.optionalText("enrolment_key"),
            callbackURL: try row.optionalText("callback_url")
        )
    }
}
