import Model
import PostgresClient
import Store

/// The indexes of the results of an apply's statements: the lock, the tenants, each tenant's removals, checks, former settings, references and rows.
struct ProvisioningPlaces: Sendable {
    /// The number of tenants in the file.
    let count: Int

    static let tenants = 1
    private var checks: Int { 2 + 2 * count }
    private var former: Int { 2 + 7 * count }
    private var references: Int { 2 + 12 * count }
    private var rows: Int { 2 + 16 * count }

    func droppedBindings(_ index: Int) -> Int { 2 + 2 * index }
    func droppedKeys(_ index: Int) -> Int { 2 + 2 * index + 1 }
    func takenBindings(_ index: Int) -> Int { checks + 5 * index }
    func takenKeys(_ index: Int) -> Int { checks + 5 * index + 1 }
    func createdOtherwise(_ index: Int) -> Int { checks + 5 * index + 2 }
    func usedOtherwise(_ index: Int) -> Int { checks + 5 * index + 3 }
    func changedUpstreams(_ index: Int) -> Int { checks + 5 * index + 4 }
    func formerBindings(_ index: Int) -> Int { former + 5 * index }
    func formerKeys(_ index: Int) -> Int { former + 5 * index + 1 }
    func formerTenant(_ index: Int) -> Int { former + 5 * index + 2 }
    func formerApps(_ index: Int) -> Int { former + 5 * index + 3 }
    func formerCredentials(_ index: Int) -> Int { former + 5 * index + 4 }
    func bindings(_ index: Int) -> Int { references + 4 * index }
    func keys(_ index: Int) -> Int { references + 4 * index + 1 }
    func retention(_ index: Int) -> Int { references + 4 * index + 2 }
    func rate(_ index: Int) -> Int { references + 4 * index + 3 }
    func apps(_ index: Int) -> Int { rows + 8 * index }
    func credentials(_ index: Int) -> Int { rows + 8 * index + 1 }
    func retiredApps(_ index: Int) -> Int { rows + 8 * index + 2 }
    func droppedCredentials(_ index: Int) -> Int { rows + 8 * index + 3 }
    func routes(_ index: Int) -> Int { rows + 8 * index + 4 }
    func missingUpstreams(_ index: Int) -> Int { rows + 8 * index + 5 }
    func takenSenders(_ index: Int) -> Int { rows + 8 * index + 6 }
    func senders(_ index: Int) -> Int { rows + 8 * index + 7 }
}

/// The audit rows of an apply, with one statement per tenant. They contain names, the changed settings with masked secrets, and of a vendor's key only its ends.
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

    /// Returns the statements that write the events. They come last in the transaction.
    func events() throws(PostgresError) -> [Statement] {
        var statements: [Statement] = []
        for (index, part) in parts.enumerated() {
            for change in try routes(of: part, at: index) {
                statements.append(RouteSQL.event(change, in: part.tenant.id))
            }
        }
        return statements
    }

    private func routes(of part: ProvisioningStatements, at index: Int) throws(PostgresError) -> [RouteChange] {
        try RouteChange.all(of: part.tenant.routes, .file, try results.result(places.routes(index))) ?? []
    }

    private func records(of part: ProvisioningStatements, at index: Int) throws(PostgresError) -> [AuditRecord] {
        let after = ProvisionedSettings(part)
        var records: [AuditRecord] = []
        func add(_ place: Int, _ action: AuditAction, _ kind: String, _ column: String) throws(PostgresError) {
            for row in try results.result(place) {
                records.append(AuditRecord(action, "\(kind) \(try row.text(.name(column)))"))
            }
        }
        for row in try results.result(places.droppedBindings(index)) {
            records.append(try Self.binding(.remove, row, nil))
        }
        try add(places.droppedKeys(index), .remove, "key", "name")
        let bindings = try former(places.formerBindings(index), FormerSettings.binding)
        for row in try results.result(places.bindings(index)) {
            records.append(try Self.binding(written: row, from: bindings, to: after.bindings))
        }
        records += try changed(
            places.keys(index),
            "key",
            "name",
            places.formerKeys(index),
            FormerSettings.key,
            after.keys
        )
        records += try tenantRecords(part, at: index)
        records += try changed(
            places.apps(index),
            "app",
            "app_id",
            places.formerApps(index),
            FormerSettings.app,
            after.apps
        )
        records += try changed(
            places.credentials(index),
            "credential",
            "credential_id",
            places.formerCredentials(index),
            FormerSettings.credential,
            after.credentials
        )
        records += try routes(of: part, at: index).map(\.record)
        try add(places.senders(index), .write, "sender", "name")
        try add(places.retiredApps(index), .retire, "app", "app_id")
        try add(places.droppedCredentials(index), .remove, "credential", "credential_id")
        return records
    }

    /// The rows about objects of a kind that were written: the statement at `place` returned their names.
    private func changed(
        _ place: Int,
        _ kind: String,
        _ column: String,
        _ formerPlace: Int,
        _ read: (Row) throws(PostgresError) -> (String, JSONObject),
        _ after: [String: JSONObject]
    ) throws(PostgresError) -> [AuditRecord] {
        let before = try former(formerPlace, read)
        var records: [AuditRecord] = []
        for row in try results.result(place) {
            let name = try row.text(.name(column))
            let changes = SettingChanges(from: before[name], to: after[name] ?? [:])
            records.append(AuditRecord(.write, "\(kind) \(name)", data: ["changes": changes.json]))
        }
        return records
    }

    private func former(
        _ place: Int,
        _ read: (Row) throws(PostgresError) -> (String, JSONObject)
    ) throws(PostgresError) -> [String: JSONObject] {
        var settings: [String: JSONObject] = [:]
        for row in try results.result(place) {
            let (name, values) = try read(row)
            settings[name] = values
        }
        return settings
    }

    private func tenantRecords(_ part: ProvisioningStatements, at index: Int) throws(PostgresError) -> [AuditRecord] {
        let row = try results.result(places.formerTenant(index)).only()
        var records: [AuditRecord] = []
        if try !results.result(places.retention(index)).isEmpty {
            var data = part.tenant.retention.json
            let before = try row.optionalDocument("retention")?.object
            data["changes"] = SettingChanges(from: before, to: data).json
            records.append(AuditRecord(.write, "retention", data: .object(data)))
        }
        if try !results.result(places.rate(index)).isEmpty {
            let before = try row.optionalInt("pushes_per_second")
            var data: JSONObject = ["pushesPerSecond": part.tenant.pushesPerSecond.map { .int(Int($0)) } ?? .null]
            let changes = SettingChanges(from: ["pushesPerSecond": before.map { .int($0) } ?? .null], to: data)
            data["changes"] = changes.json
            records.append(AuditRecord(.write, "rate", data: .object(data)))
        }
        return records
    }

    private static func tenant(_ row: Row) throws(PostgresError) -> TenantID { try row.id("tenant_id") }

    /// The row about a binding that was written, with the settings of all bindings before and after it by their names.
    static func binding(
        written row: Row,
        from before: [String: JSONObject],
        to after: [String: JSONObject]
    ) throws(PostgresError) -> AuditRecord {
        let key = try FormerSettings.bindingName(row)
        let changes = SettingChanges(
            from: before[key].map(FormerSettings.withoutPeople),
            to: FormerSettings.withoutPeople(after[key] ?? [:]),
            isSecret: FormerSettings.isKeyOfVendor
        )
        return try binding(.write, row, changes)
    }

    static func binding(
        _ action: AuditAction,
        _ row: Row,
        _ changes: SettingChanges?
    ) throws(PostgresError) -> AuditRecord {
        // A vendor's key may be a secret of that vendor: the ends suffice to recognise it.
        let value = DeviceToken(stored: try row.text("value")).masked
        let host = try row.text("host")
        var data: JSONObject = [
            "app": .string(try row.text("app_id")), "host": host.isEmpty ? .null : .string(host),
        ]
        data["changes"] = changes?.json
        return AuditRecord(
            action,
            "binding \(try row.text("vendor")) \(try row.text("kind")) \(value)",
            data: .object(data)
        )
    }
}
