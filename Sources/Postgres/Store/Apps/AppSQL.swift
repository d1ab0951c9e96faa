import PostgresClient

/// Apps, as the provisioning file defines them.
package enum AppSQL {
    /// Ordered by id, after `$2`. `''` starts at the beginning.
    static let list = StoreSQL.tenant(
        """
        SELECT a.app_id, a.platforms, a.defaults->>'timeZone' AS time_zone, a.created_at, a.retired_at, a.origin
        FROM gateway.app a
        WHERE a.tenant_id = $1 AND a.app_id > $2 ORDER BY a.app_id LIMIT $3
        """
    )

    static let one = StoreSQL.tenant(
        """
        SELECT a.app_id, a.platforms, a.defaults->>'timeZone' AS time_zone, a.created_at, a.retired_at, a.origin
        FROM gateway.app a
        WHERE a.tenant_id = $1 AND a.app_id = $2
        """
    )

    /// The topics, credentials and defaults of an app.
    package static let platforms = StoreSQL.tenant(
        "SELECT platforms, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = $2"
    )
}
