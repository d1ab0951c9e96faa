import Model
import PostgresClient
import Store

/// The indexes of the results of an apply's statements: the lock, the tenants, each tenant's removals, checks, references and rows.
struct ProvisioningPlaces: Sendable {
    /// The number of tenants in the file.
    let count: Int

    static let tenants = 1
    private var checks: Int { 2 + 2 * count }
    private var references: Int { 2 + 4 * count }
    private var rows: Int { 2 + 8 * count }

    func droppedBindings(_ index: Int) -> Int { 2 + 2 * index }
    func droppedKeys(_ index: Int) -> Int { 2 + 2 * index + 1 }
    func takenBindings(_ index: Int) -> Int { checks + 2 * index }
    func takenKeys(_ index: Int) -> Int { checks + 2 * index + 1 }
    func bindings(_ index: Int) -> Int { references + 4 * index }
    func keys(_ index: Int) -> Int { references + 4 * index + 1 }
    func retention(_ index: Int) -> Int { references + 4 * index + 2 }
    func rate(_ index: Int) -> Int { references + 4 * index + 3 }
    func apps(_ index: Int) -> Int { rows + 6 * index }
    func credentials(_ index: Int) -> Int { rows + 6 * index + 1 }
    func retiredApps(_ index: Int) -> Int { rows + 6 * index + 2 }
    func droppedCredentials(_ index: Int) -> Int { rows + 6 * index + 3 }
    func takenSenders(_ index: Int) -> Int { rows + 6 * index + 4 }
    func senders(_ index: Int) -> Int { rows + 6 * index + 5 }
}

/// The audit rows of an apply, with one statement per tenant. They contain only names, and of a vendor's key only its ends.
struct ProvisioningAudit {
    private let parts: [ProvisioningStatements]
    private let results: [ResultSet]
    private let places: ProvisioningPlaces

    /// - Parameters:
    ///   - parts: the statements of the tenants in the file.
    ///   - results: the results of all statements.
    init(_ parts: [ProvisioningStatements], _ results: [ResultSet]) {
        self.parts = parts
        self.results = results
        places = ProvisioningPlaces(count: parts.count)
    }

    /// Returns the statements that write the audit rows. Empty when nothing was changed.
    func statements(by actor: AuditActor) throws(PostgresError) -> [Statement] {
        let created = Set(try results.result(ProvisioningPlaces.tenants).rows(Self.tenant))
        var statements: [Statement] = []
        for (index, part) in parts.enumerated() {
            let id = part.tenant.id
            var records = created.contains(id) ? [AuditRecord(.create, "tenant \(id)")] : []
            records += try self.records(of: part, at: index)
            guard !records.isEmpty else { continue }
            statements.append(records.written(by: actor, in: id))
        }
        return statements
    }

    private func records(of part: ProvisioningStatements, at index: Int) throws(PostgresError) -> [AuditRecord] {
        var records: [AuditRecord] = []
        func add(_ place: Int, _ action: AuditAction, _ kind: String, _ column: String) throws(PostgresError) {
            for row in try results.result(place) {
                records.append(AuditRecord(action, "\(kind) \(try row.text(.name(column)))"))
            }
        }
        for row in try results.result(places.droppedBindings(index)) { records.append(try Self.binding(.remove, row)) }
        try add(places.droppedKeys(index), .remove, "key", "name")
        for row in try results.result(places.bindings(index)) { records.append(try Self.binding(.write, row)) }
        try add(places.keys(index), .write, "key", "name")
        if try !results.result(places.retention(index)).isEmpty {
            records.append(AuditRecord(.write, "retention", data: .object(part.tenant.retention.json)))
        }
        if try !results.result(places.rate(index)).isEmpty {
            let rate = part.tenant.pushesPerSecond.map { JSON.int(Int($0)) } ?? .null
            records.append(AuditRecord(.write, "rate", data: ["pushesPerSecond": rate]))
        }
        try add(places.apps(index), .write, "app", "app_id")
        try add(places.credentials(index), .write, "credential", "credential_id")
        try add(places.senders(index), .write, "sender", "name")
        try add(places.retiredApps(index), .retire, "app", "app_id")
        try add(places.droppedCredentials(index), .remove, "credential", "credential_id")
        return records
    }

    private static func tenant(_ row: Row) throws(PostgresError) -> TenantID { try row.id("tenant_id") }

    private static func binding(_ action: AuditAction, _ row: Row) throws(PostgresError) -> AuditRecord {
        // A vendor's key may be a secret of that vendor: the ends suffice to recognise it.
        let value = DeviceToken(stored: try row.text("value")).masked
        let host = try row.text("host")
        return AuditRecord(
            action,
            "binding \(try row.text("vendor")) \(try row.text("kind")) \(value)",
            data: ["app": .string(try row.text("app_id")), "host": host.isEmpty ? .null : .string(host)]
        )
    }
}
