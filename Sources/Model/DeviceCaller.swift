/// Identifies the registered device that calls, by its key or else by its token. Without both, the caller is unknown unless a user is given.
package struct DeviceCaller: Sendable, Hashable {
    package var key: VendorDeviceKey?
    package var token: DeviceToken?
    /// Used without key and token: any device that currently belongs to this user. Only reads of a history that record no receipt accept it. An adapter sets
    /// it only if the app's settings accept the name of a user as sufficient.
    package var user: UserID?

    package init(key: VendorDeviceKey? = nil, token: DeviceToken? = nil, user: UserID? = nil) {
        self.key = key
        self.token = token
        self.user = user
    }
}
