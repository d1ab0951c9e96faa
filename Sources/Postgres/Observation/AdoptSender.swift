package import Model
package import PostgresClient
package import Store

/// Stores a sender under the id that an upstream has given it, with the upstream's key of its enrolment. A known sender keeps its name and its key. If another sender
/// has the name, the id is the name of this one. Returns the number of rows.
package struct AdoptSender: StoreWrite {
    let scope: AppScope
    let sender: AdoptedSender
    let name: String

    package init(_ scope: AppScope, _ sender: AdoptedSender, name: String) {
        self.scope = scope
        self.sender = sender
        self.name = name
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.sender AS s (tenant_id, app_id, vendor, name, sender_id, enrolment_key, address)
        SELECT $1, $2, $3, CASE WHEN EXISTS (
                SELECT FROM gateway.sender x
                WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.name = $4) THEN $5 ELSE $4 END, $5, $6, $7
        ON CONFLICT (tenant_id, app_id, vendor, sender_id) DO UPDATE SET
            enrolment_key = coalesce(s.enrolment_key, excluded.enrolment_key), address = coalesce(excluded.address, s.address)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .string(name),
            .id(sender.id),
            .string(sender.enrolmentKey),
            .string(sender.address)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
