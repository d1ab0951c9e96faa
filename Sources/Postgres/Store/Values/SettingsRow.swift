package import Model
package import PostgresClient

/// Reads bindings as settings by dialect.
package enum SettingsRow {
    /// Several bindings of one dialect contain the same settings, so any of them is used.
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
