package import FoundationEssentials
package import Model
import PostgresClient

/// The number of rows of an import by what happened to them.
package struct ImportCounts: Sendable, Equatable {
    package var created = 0
    /// Known before, and changed.
    package var updated = 0
    /// Known before and the same: nothing is written.
    package var unchanged = 0
    /// Known before, and in part or as a whole later than the file, which stays.
    package var older = 0

    package init(created: Int = 0, updated: Int = 0, unchanged: Int = 0, older: Int = 0) {
        self.created = created
        self.updated = updated
        self.unchanged = unchanged
        self.older = older
    }

    /// The number of rows with each outcome.
    package init(_ outcomes: [ImportOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .created: created += 1
            case .updated: updated += 1
            case .unchanged: unchanged += 1
            case .older: older += 1
            }
        }
    }

    package static func += (left: inout ImportCounts, right: ImportCounts) {
        left.created += right.created
        left.updated += right.updated
        left.unchanged += right.unchanged
        left.older += right.older
    }
}

/// The result of a row of an import.
package enum ImportOutcome: String, Sendable, Hashable {
    case created, updated, unchanged, older
}

/// Rows that one statement imports.
package struct ImportedRows: Sendable {
    let scope: AppScope
    let rows: [DeviceRegistration]
    /// Of what is new, one for each row.
    let identities: [UUID]
    let devices: [UUID]
    /// The time of the import: when they registered, if neither the row nor the file has a time.
    let at: Timestamp
    /// When the file was made; what changed later stays. Nil: the file is newer than everything.
    let asOf: Timestamp?
    /// The source of consents that name none.
    package let source: String?

    package init(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        identities: [UUID],
        devices: [UUID],
        at: Timestamp,
        asOf: Timestamp? = nil,
        source: String? = nil
    ) {
        self.rows = rows
        self.scope = scope
        self.identities = identities
        self.devices = devices
        self.at = at
        self.asOf = asOf
        self.source = source
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
        p["p_registered"] = { .times($1.rows.map(\.imported.registeredAt)) }
        p["p_as_of"] = { .time($1.asOf) }
        p["p_accepts"] = { .bools($1.rows.map(\.imported.acceptsPush)) }
        p["p_groups"] = { groups($1.rows) }
        p["p_badges"] = { .int32s($1.rows.map(\.imported.badge)) }
        p["p_consents"] = { consents($1.rows) }
        p["p_source"] = { .string($1.source) }
    }

    /// The groups of each row's user, as a JSON array.
    private static func groups(_ rows: [DeviceRegistration]) -> PostgresValue {
        .strings(rows.map { row in row.imported.groups.map { JSONWriter.text(.array($0.map { .string($0) })) } })
    }

    /// The consents of each row's user, as a JSON object.
    private static func consents(_ rows: [DeviceRegistration]) -> PostgresValue {
        .strings(
            rows.map { row in
                row.imported.consents.isEmpty ? nil : JSONWriter.text(RecordedConsent.json(row.imported.consents))
            }
        )
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
