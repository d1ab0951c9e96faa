package import Model
import PostgresClient

/// One device with its identities.
package struct DeviceFacts: Sendable, Hashable {
    package var id: DeviceID
    package var app: AppID
    package var platform: Platform
    package var environment: PushEnvironment
    package var token: DeviceToken?
    package var tokenState: TokenState
    package var tokenRegisteredAt: Timestamp?
    package var createdAt: Timestamp
    package var seenAt: Timestamp?
    package var clock: DeviceClock
    package var identities: [IdentityEntry]
    /// How many of its newest `HistoryPage.lookLimit` messages are unread; nil when not requested.
    package var unread: Int?
}

/// One identity of a device in the dialect of a vendor.
package struct IdentityEntry: Sendable, Hashable {
    package var id: IdentityID
    package var vendor: Vendor
    package var key: VendorDeviceKey
    package var state: IdentityState
    package var user: UserID?
    package var name: String?
    package var phone: String?
    package var acceptsPush: Bool
    package var attributes: JSONObject
    package var client: ClientFacts
    package var registeredAt: Timestamp
    package var assurance: Assurance
    package var tags: [Tag]
}

/// A change to all active identities of a device. Fields that are nil stay unchanged.
package struct DevicePatch: Sendable, Hashable {
    package var acceptsPush: Bool?
    package var user: UserID?
    package var name: String?
    package var phone: String?
    /// Replaces all tags.
    package var tags: [Tag]?
    /// The clock of the device itself.
    package var clock: DeviceClock

    package init(
        acceptsPush: Bool? = nil,
        user: UserID? = nil,
        name: String? = nil,
        phone: String? = nil,
        tags: [Tag]? = nil,
        clock: DeviceClock = .unset
    ) {
        self.acceptsPush = acceptsPush
        self.user = user
        self.name = name
        self.phone = phone
        self.tags = tags
        self.clock = clock
    }
}

/// Selects devices of a tenant. Nil fields match any device.
package struct DeviceFilter: Sendable, Hashable {
    package var app: AppID?
    package var vendor: Vendor?
    package var user: UserID?
    package var key: VendorDeviceKey?
    /// Only digits.
    package var phone: String?
    package var token: String?

    package init(
        app: AppID? = nil,
        vendor: Vendor? = nil,
        user: UserID? = nil,
        key: VendorDeviceKey? = nil,
        phone: String? = nil,
        token: String? = nil
    ) {
        self.app = app
        self.vendor = vendor
        self.user = user
        self.key = key
        self.phone = phone
        self.token = token
    }
}
