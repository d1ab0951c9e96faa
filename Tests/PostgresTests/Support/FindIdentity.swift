import Model
import PostgresClient

@testable import Store

/// Finds the identity of a key, in any state.
struct FindIdentity: StoreRead {
    let scope: AppScope
    let key: VendorDeviceKey

    init(_ scope: AppScope, key: VendorDeviceKey) {
        self.scope = scope
        self.key = key
    }

    var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.device_id, i.state, i.phone, coalesce(d.platform, 'ios') AS platform
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
        """
    )

    func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(key))
    }

    func read(_ result: ResultSet) throws(PostgresError) -> IdentityFacts? {
        guard let row = result.first else { return nil }
        return IdentityFacts(
            identity: try row.id("identity_id"),
            device: try row.optionalID("device_id"),
            state: try row.word("state"),
            platform: try row.word("platform"),
            phone: try row.optionalText("phone")
        )
    }
}

/// The stored properties of one identity.
struct IdentityFacts: Sendable, Hashable {
    var identity: IdentityID
    var device: DeviceID?
    var state: IdentityState
    var platform: Platform
    var phone: String?

    init(
        identity: IdentityID,
        device: DeviceID?,
        state: IdentityState,
        platform: Platform,
        phone: String? = nil
    ) {
        self.identity = identity
        self.device = device
        self.state = state
        self.platform = platform
        self.phone = phone
    }
}
