package import FoundationEssentials
package import Model
import PostgresClient

/// The number of rows of an import by what happened to them.
package struct ImportCounts: Sendable, Equatable {
    package var created = 0
    /// Known before. In a preview only those that the file changes.
    package var updated = 0
    /// Known before and the same. In a preview only.
    package var unchanged = 0

    package init(created: Int = 0, updated: Int = 0, unchanged: Int = 0) {
        self.created = created
        self.updated = updated
        self.unchanged = unchanged
    }

    package static func += (left: inout ImportCounts, right: ImportCounts) {
        left.created += right.created
        left.updated += right.updated
        left.unchanged += right.unchanged
    }
}

/// Rows that one statement imports.
package struct ImportedRows: Sendable {
    let scope: AppScope
    let rows: [DeviceRegistration]
    /// Of what is new, one for each row.
    let identities: [UUID]
    let devices: [UUID]
    /// When they registered.
    let at: Timestamp

    package init(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        identities: [UUID],
        devices: [UUID],
        at: Timestamp
    ) {
        self.rows = rows
        self.scope = scope
        self.identities = identities
        self.devices = devices
        self.at = at
    }

    /// The parameters of both import functions.
    static func declare(_ p: inout RoutineParameters<StoreCall, ImportedRows>) {
        p.own { $0.scope }
        p["p_keys"] = { .strings($1.rows.map { $0.key?.rawValue }) }
        p["p_identities"] = { .uuids($1.identities) }
        p["p_devices"] = { .uuids($1.devices) }
        p["p_platforms"] = { .strings($1.rows.map(\.platform.rawValue)) }
        p["p_environments"] = { .strings($1.rows.map { $0.environment?.rawValue }) }
        p["p_tokens"] = { .strings($1.rows.map { $0.token?.text }) }
        p["p_users"] = { .strings($1.rows.map { $0.user?.rawValue }) }
        p["p_names"] = { .strings($1.rows.map(\.name)) }
        p["p_phones"] = { .strings($1.rows.map(\.phone)) }
        p["p_raw_phones"] = { .strings($1.rows.map(\.rawPhone)) }
        p["p_attributes"] = { .strings($1.rows.map { $0.attributes.isEmpty ? nil : DocumentText.of($0.attributes) }) }
        p["p_zones"] = { zones($1.rows) }
        p["p_from"] = { starts($1.rows) }
        p["p_to"] = { ends($1.rows) }
        p["p_tags"] = { tags($1.rows) }
        p["p_at"] = { .time($1.at) }
        p["p_clients"] = { clients($1.rows) }
    }

    static func zones(_ rows: [DeviceRegistration]) -> PostgresValue { .strings(rows.map { $0.clock.timeZone?.text }) }

    static func starts(_ rows: [DeviceRegistration]) -> PostgresValue {
        .int32s(rows.map { $0.clock.window.map { Int32(clamping: $0.from) } })
    }

    static func ends(_ rows: [DeviceRegistration]) -> PostgresValue {
        .int32s(rows.map { $0.clock.window.map { Int32(clamping: $0.to) } })
    }

    /// The reported facts of each row, as JSON.
    static func clients(_ rows: [DeviceRegistration]) -> PostgresValue {
        .strings(rows.map { $0.client.report.map { DocumentText.of($0) } })
    }

    /// The tags of each row, separated by spaces, which no tag contains.
    static func tags(_ rows: [DeviceRegistration]) -> PostgresValue {
        .strings(rows.map { row in row.tags.map { Set($0.map(\.text)).sorted().joined(separator: " ") } })
    }
}
