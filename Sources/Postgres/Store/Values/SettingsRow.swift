package import Model
package import PostgresClient

/// Rows of bindings, as settings by dialect.
package enum SettingsRow {
    /// Several bindings of one dialect hold the same settings: any of them stands.
    package static func read(_ result: ResultSet, tenant: TenantID) throws(PostgresError) -> [Vendor: BindingSettings] {
        var settings: [Vendor: BindingSettings] = [:]
        for row in result {
            settings[try row.id("vendor")] = BindingSettings(
                tenant: tenant,
                app: try row.id("app_id"),
                values: try row.object("settings")
            )
        }
        return settings
    }
}
