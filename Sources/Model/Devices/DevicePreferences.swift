/// The push preferences of a device's user in one dialect.
package struct DevicePreferences: Sendable, Hashable {
    package var acceptsPush: Bool
    /// The minutes of a day in which the device may be notified. Nil: always.
    package var window: DailyWindow?
    /// The user of the device.
    package var user: UserID?
    /// The name by which back ends know the user, if it is not the user's own id.
    package var alias: UserID?

    package init(acceptsPush: Bool, window: DailyWindow? = nil, user: UserID? = nil, alias: UserID? = nil) {
        self.acceptsPush = acceptsPush
        self.window = window
        self.user = user
        self.alias = alias
    }
}

/// A change of preferences. Fields that are nil stay unchanged.
package struct PreferenceChange: Sendable, Hashable {
    package var acceptsPush: Bool?
    /// First minute of the day in which the device may be notified, 0...1439. Without an existing window, the other end is that of the whole day.
    package var windowFrom: Int?
    /// The last minute.
    package var windowTo: Int?
    /// The zone of the window. It is read only together with one of the ends.
    package var timeZone: TimeZoneName?
    package var alias: UserID?

    package init(
        acceptsPush: Bool? = nil,
        windowFrom: Int? = nil,
        windowTo: Int? = nil,
        timeZone: TimeZoneName? = nil,
        alias: UserID? = nil
    ) {
        self.acceptsPush = acceptsPush
        self.windowFrom = windowFrom
        self.windowTo = windowTo
        self.timeZone = timeZone
        self.alias = alias
    }
}
