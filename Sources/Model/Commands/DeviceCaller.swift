/// Which registered device calls: known by its key, else by its token. One without both is nobody.
package struct DeviceCaller: Sendable, Hashable {
    package var key: VendorDeviceKey?
    package var token: DeviceToken?

    package init(key: VendorDeviceKey?, token: DeviceToken? = nil) {
        self.key = key
        self.token = token
    }
}

/// Which part of a history is wanted.
package struct HistoryPage: Sendable, Hashable {
    /// Whose messages.
    package enum Owner: Sendable, Hashable {
        /// All that were for the calling device, whoever used it.
        case device
        /// All that were for the device's user now, on any device. A user that is named must be that one: a device may not read others' messages.
        case user(UserID?)
    }

    /// 50 messages in one page: each is read with its content (protocols/ipns.md §2.9).
    package static let limit = 50
    /// 10,000 messages that are not received are counted; a client asks again while there are any, so that a higher number tells it nothing.
    package static let remainingLimit = 10_000

    package var owner: Owner
    /// Only what is older than the message of this number; nil: from the newest. A number that is not known is compared as text.
    package var before: String?
    package var count: Int

    package init(_ owner: Owner, before: String? = nil, count: Int) {
        self.owner = owner
        self.before = before
        self.count = count
    }
}
