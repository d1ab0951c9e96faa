import Model
package import PostgresClient

/// Writes rows of the audit. It locks the tenant's audit until the commit, so it is the last write of its transaction.
package struct WriteAudit: StoreWrite {
    let records: [AuditRecord]
    let actor: AuditActor

    package init(_ records: [AuditRecord], by actor: AuditActor) {
        self.records = records
        self.actor = actor
    }

    package func statement(_ call: StoreCall) -> Statement { records.written(by: actor, in: call.tenant) }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
