/// What a device's user has chosen about pushes in one dialect.
package struct DevicePreferences: Sendable, Hashable {
    package var acceptsPush: Bool
    /// When it may be rung; nil: always.
    package var window: DailyWindow?
    /// Who uses it.
    package var user: UserID?
    /// What back ends call the user, where that is not the user's own id.
    package var alias: UserID?

    package init(acceptsPush: Bool, window: DailyWindow? = nil, user: UserID? = nil, alias: UserID? = nil) {
        self.acceptsPush = acceptsPush
        self.window = window
        self.user = user
        self.alias = alias
    }
}

/// A change of preferences. What is nil stays.
package struct PreferenceChange: Sendable, Hashable {
    package var acceptsPush: Bool?
    /// First minute of the day in which it may be rung, 0...1439. Without a window yet the other end is that of the whole day.
    package var windowFrom: Int?
    /// The last one.
    package var windowTo: Int?
    /// The zone in which the window is meant; looked at only with one of its ends.
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
