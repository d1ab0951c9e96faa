package import DatabaseSchema

/// A running embedded cluster that another process owns. A short command uses it to reach the database of a running gateway.
///
/// It does not stop the server. Made when `EmbeddedCluster.start` fails with `inUse`.
package struct AttachedCluster: Sendable {
    private let layout: ClusterLayout

    /// Attaches to the cluster in `directory`.
    ///
    /// - Throws: `EmbeddedClusterError` when the directory cannot be a cluster of the gateway.
    package init(directory: String) throws(EmbeddedClusterError) {
        layout = try EmbeddedCluster.makeLayout(directory, ClusterAccount.choose())
    }

    /// The connection string of the superuser, for migrations.
    package var adminConnectionString: String {
        layout.connectionString(user: ClusterSettings.superuser, database: EmbeddedCluster.databaseName)
    }

    /// The connection string of a role that may log in.
    package func connectionString(role: GatewayRole) -> String {
        layout.connectionString(user: role.rawValue, database: EmbeddedCluster.databaseName)
    }
}

extension ClusterLayout {
    /// A libpq connection string for the private socket.
    func connectionString(user: String, database: String) -> String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(socketDirectory)) port=\(ClusterLayout.port) user=\(quoted(user)) "
            + "dbname=\(quoted(database))"
    }
}
