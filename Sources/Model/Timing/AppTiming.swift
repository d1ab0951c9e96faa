/// When an app's messages may reach its devices: as provisioned.
package struct AppTiming: Sendable, Hashable {
    /// What becomes of a message that comes outside of the hours.
    package enum Hold: String, Sendable, Hashable, CaseIterable {
        /// It waits until they begin, unless it expires before.
        case delay
        /// It is not sent to that device.
        case suppress
    }

    /// Hours of the app in which it is quiet.
    package struct QuietHours: Sendable, Hashable {
        /// When it may be loud: the hours turned inside out.
        package var loud: DailyWindow
        /// Nil: the device's.
        package var zone: TimeZoneName?
        package var lanes: Set<Lane>
        package var hold: Hold

        /// Offers and news wait for the morning; what one person asked for does not: a code to sign in with is worth nothing then.
        package static let lanes: Set<Lane> = [.bulk, .background]

        /// Nil unless both are minutes of a day, and other ones: quiet from `from` until before `to`.
        package init?(
            from: Int,
            to: Int,
            zone: TimeZoneName? = nil,
            lanes: Set<Lane> = QuietHours.lanes,
            hold: Hold = .delay
        ) {
            guard from != to, let loud = DailyWindow(from: to, to: (from + 1439) % 1440) else { return nil }
            self.loud = loud
            self.zone = zone
            self.lanes = lanes
            self.hold = hold
        }

        /// The first quiet minute of a day.
        package var from: Int { (loud.to + 1) % 1440 }
        /// The first minute that is not quiet any more.
        package var to: Int { loud.from }
    }

    /// What the receiving windows of devices mean to the app.
    package struct WindowRule: Sendable, Hashable {
        package var lanes: Set<Lane>
        package var hold: Hold

        /// All but the urgent lane: the user has asked for the hours, and an alarm is still one.
        package static let lanes: Set<Lane> = [.transactional, .bulk, .background]

        package init(lanes: Set<Lane> = WindowRule.lanes, hold: Hold = .delay) {
            self.lanes = lanes
            self.hold = hold
        }
    }

    /// How much one device gets of the bulk and background lanes.
    package struct FrequencyCap: Sendable, Hashable {
        /// 1,000: what is above is no cap, and each row is counted for each device.
        package static let counts = 1...1000
        /// An hour to thirty days: further back costs a partition per week for each device of each slice.
        package static let periods: ClosedRange<Duration> = .seconds(3600) ... .seconds(30 * 86_400)
        /// The lanes that are capped. The others are what somebody waits for.
        package static let lanes: Set<Lane> = [.bulk, .background]

        package var count: Int
        package var period: Duration

        /// Nil outside of the ranges.
        package init?(count: Int, period: Duration) {
            guard Self.counts.contains(count), Self.periods.contains(period) else { return nil }
            self.count = count
            self.period = period
        }
    }

    /// Of devices that have none of their own; nil: UTC.
    package var timeZone: TimeZoneName?
    package var quietHours: QuietHours?
    package var windows: WindowRule
    package var cap: FrequencyCap?

    package init(
        timeZone: TimeZoneName? = nil,
        quietHours: QuietHours? = nil,
        windows: WindowRule = WindowRule(),
        cap: FrequencyCap? = nil
    ) {
        self.timeZone = timeZone
        self.quietHours = quietHours
        self.windows = windows
        self.cap = cap
    }

    /// Nothing was said.
    package static let none = AppTiming()

    /// The zone that holds for a device: its own, else the app's, else UTC; one that nobody knows is none.
    package func zone(of device: DeviceClock) -> TimeZoneName {
        if let own = device.timeZone, own.isKnown { return own }
        if let app = timeZone, app.isKnown { return app }
        return .utc
    }
}

/// What a device says of its own time; nil: nothing.
package struct DeviceClock: Sendable, Hashable {
    package var timeZone: TimeZoneName?
    /// When it may be rung. In a change the whole day takes the window away.
    package var window: DailyWindow?

    package init(timeZone: TimeZoneName? = nil, window: DailyWindow? = nil) {
        self.timeZone = timeZone
        self.window = window
    }

    package static let unset = DeviceClock()
}
