package import Model
package import PostgresClient

/// Stores a whole batch. Throws `StoreError.conflict` when a profile does not have the revision that was read. Returns whether the batch was stored before.
package struct PutUsers: StoreWrite {
    let scope: AppScope
    let write: UserWrite

    package init(_ scope: AppScope, _ write: UserWrite) {
        self.scope = scope
        self.write = write
    }

    private static let routine = Routine<StoreCall, Self>(
        "keep_users",
        select: { "SELECT keep_users AS is_repeat FROM \($0)" }
    ) { p in
        p.own { $0.scope }
        p["p_repeat"] = { .string($1.write.repeatKey) }
        p["p_users"] = { .strings($1.write.profiles.map(\.user.rawValue)) }
        p["p_anonymous"] = { .bools($1.write.profiles.map(\.isAnonymous)) }
        p["p_accepts"] = { .bools($1.write.profiles.map(\.acceptsPush)) }
        p["p_opted"] = { .bools($1.write.profiles.map(\.isOptedIn)) }
        p["p_attributes"] = { .strings($1.write.profiles.map { DocumentText.of($0.attributes) }) }
        p["p_consents"] = { .strings($1.write.profiles.map { JSONWriter.text(ConsentCoding.json($0.consents)) }) }
        p["p_said"] = { .strings($1.write.profiles.map { subjects($0.decided) }) }
        p["p_revisions"] = { .ints($1.write.profiles.map(\.revision)) }
        p["p_labels"] = { .strings($1.write.aliases.map(\.alias.label)) }
        p["p_names"] = { .strings($1.write.aliases.map(\.alias.name)) }
        p["p_named"] = { .strings($1.write.aliases.map(\.user.rawValue)) }
        p["p_actors"] = { .strings($1.write.acts.map(\.user.rawValue)) }
        p["p_digests"] = { .strings($1.write.acts.map(\.digest)) }
        p["p_kinds"] = { .strings($1.write.acts.map(\.kind.rawValue)) }
        p["p_acts"] = { .strings($1.write.acts.map(\.name)) }
        p["p_ats"] = { .times($1.write.acts.map(\.at)) }
        p["p_data"] = { .strings($1.write.acts.map { DocumentText.of($0.data) }) }
        p["p_from"] = { .strings($1.write.moves.map(\.from.rawValue)) }
        p["p_to"] = { .strings($1.write.moves.map(\.to.rawValue)) }
    }

    /// The subjects as a JSON array.
    private static func subjects(_ decided: Set<String>) -> String {
        JSONWriter.text(.array(decided.sorted().map { .string($0) }))
    }

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, self) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.only().bool("is_repeat") }
}
