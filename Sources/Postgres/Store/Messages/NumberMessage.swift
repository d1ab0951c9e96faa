package import Model
package import PostgresClient

/// Sets the numbers of a message that this transaction stored, and adds it to the inboxes of settled `targets` whose devices have one.
package struct NumberMessage: StoreWrite {
    let message: MessageID
    let numbers: [Vendor: String]
    let targets: [TargetID]
    let inboxes: Set<Vendor>

    package init(_ message: MessageID, _ numbers: [Vendor: String], targets: [TargetID], inboxes: Set<Vendor>) {
        self.message = message
        self.numbers = numbers
        self.targets = targets
        self.inboxes = inboxes
    }

    package var sharesCommit: Bool { targets.count <= AcceptMessage.shortTargetLimit }

    private static let sql = StoreSQL.function("number_message", 6, columns: "number_message AS count")

    package func statement(_ call: StoreCall) -> Statement {
        let pairs = numbers.sorted { $0.key < $1.key }
        return Self.sql(
            .id(call.tenant),
            .id(message),
            .strings(pairs.map(\.key.rawValue)),
            .strings(pairs.map(\.value)),
            .ids(targets),
            .strings(inboxes.map(\.rawValue).sorted())
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
