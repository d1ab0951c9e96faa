package import Model
package import PostgresClient
package import Store

/// Applies the consents and the groups of an export to users. Of two consents the newer counts; where a time is missing, the withdrawal. Users are added to groups,
/// which are created, and removed from none. Returns whether each user was changed.
package struct ImportPeople: StoreWrite {
    /// A user with its consents and groups.
    package struct Person: Sendable, Hashable {
        package var user: UserID
        package var consents: [RecordedConsent]
        package var groups: [GroupName]

        package init(_ user: UserID, consents: [RecordedConsent] = [], groups: [GroupName] = []) {
            self.user = user
            self.consents = consents
            self.groups = groups
        }
    }

    let scope: AppScope
    let people: [Person]

    package init(_ scope: AppScope, _ people: [Person]) {
        self.scope = scope
        self.people = people
    }

    private static let sql = StoreSQL.function("import_people", 7, columns: "import_people AS outcomes")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .strings(people.map(\.user.rawValue)),
                .strings(
                    people.map { person in
                        person.groups.isEmpty
                            ? nil : JSONWriter.text(.array(person.groups.map { .string($0.rawValue) }))
                    }
                ),
                .strings(
                    people.map { person in
                        person.consents.isEmpty ? nil : JSONWriter.text(RecordedConsent.json(person.consents))
                    }
                ),
                // A consent without a source keeps none, so that an export of the imported users is the same.
                .string(nil),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Bool] {
        try result.only().texts("outcomes").map { $0 == "changed" }
    }
}
