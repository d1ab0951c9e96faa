package import DatabaseSchema

/// A running embedded cluster that another process owns: how a short command reaches the database of a gateway that runs.
///
/// It owns nothing and stops nothing. Made when `EmbeddedCluster.start` says `inUse`.
package struct AttachedCluster: Sendable {
    private let layout: ClusterLayout

    /// The cluster in `directory`.
    ///
    /// - Throws: `EmbeddedClusterError` when the directory cannot be one of ours.
    package init(directory: String) throws(EmbeddedClusterError) {
        layout = try EmbeddedCluster.makeLayout(directory, ClusterAccount.choose())
    }

    /// The superuser, for migrations.
    package var adminConnectionString: String {
        layout.connectionString(user: ClusterSettings.superuser, database: EmbeddedCluster.databaseName)
    }

    /// One of the roles that log in.
    package func connectionString(role: GatewayRole) -> String {
        layout.connectionString(user: role.rawValue, database: EmbeddedCluster.databaseName)
    }
}

extension ClusterLayout {
    /// A libpq connection string over the private socket.
    func connectionString(user: String, database: String) -> String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(socketDirectory)) port=\(ClusterLayout.port) user=\(quoted(user)) "
            + "dbname=\(quoted(database))"
    }
}
