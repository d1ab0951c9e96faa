package import Model
package import PostgresClient

/// Finds an identity by its id, whatever its state.
package struct FindIdentityEntry: StoreRead {
    let identity: IdentityID

    package init(_ identity: IdentityID) { self.identity = identity }

    package func statement(_ call: StoreCall) -> Statement { DeviceSQL.identity(.id(call.tenant), .id(identity)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> IdentityEntry? {
        try result.rows(DeviceRow.identity).first
    }
}
