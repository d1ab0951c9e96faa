/// Which registered device calls: known by its key, else by its token. One without both is nobody, unless a user is named.
package struct DeviceCaller: Sendable, Hashable {
    package var key: VendorDeviceKey?
    package var token: DeviceToken?
    /// Where there is neither: any device that is this user's now. Only histories that are just looked at answer to it, and an adapter says it only where
    /// the app's own settings let a user's name be enough.
    package var user: UserID?

    package init(key: VendorDeviceKey? = nil, token: DeviceToken? = nil, user: UserID? = nil) {
        self.key = key
        self.token = token
        self.user = user
    }
}
