/// When an app's messages may reach its devices, from the provisioning file.
package struct AppTiming: Sendable, Hashable {
    /// The handling of a message that is due outside of the hours.
    package enum Hold: String, Sendable, Hashable, CaseIterable {
        /// It waits until the hours begin, unless it expires before.
        case delay
        /// It is not sent to that device.
        case suppress
    }

    /// The hours in which the app sends nothing.
    package struct QuietHours: Sendable, Hashable {
        /// The hours outside of the quiet hours.
        package var loud: DailyWindow
        /// Nil: the zone of the device.
        package var zone: TimeZoneName?
        package var lanes: Set<Lane>
        package var hold: Hold

        /// Offers and news can wait for the morning. A message that one person requested cannot: a sign-in code would be worthless then.
        package static let lanes: Set<Lane> = [.bulk, .background]

        /// Quiet from `from` until before `to`. Nil unless both are minutes of a day and differ.
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
        /// The first minute after the quiet hours.
        package var to: Int { loud.from }
    }

    /// How the app treats the receiving windows of devices.
    package struct WindowRule: Sendable, Hashable {
        package var lanes: Set<Lane>
        package var hold: Hold

        /// All but the urgent lane: the user has requested the hours, but an alarm must still arrive.
        package static let lanes: Set<Lane> = [.transactional, .bulk, .background]

        package init(lanes: Set<Lane> = WindowRule.lanes, hold: Hold = .delay) {
            self.lanes = lanes
            self.hold = hold
        }
    }

    /// The maximum number of messages to one device in the bulk and background lanes.
    package struct FrequencyCap: Sendable, Hashable {
        /// 1,000: a higher limit would not restrict anything, and the rows of each device are counted.
        package static let counts = 1...1000
        /// An hour to thirty days: a longer period costs a partition per week for each device of each slice.
        package static let periods: ClosedRange<Duration> = .seconds(3600) ... .seconds(30 * 86_400)
        /// The limited lanes. Messages in the other lanes are expected by their receivers.
        package static let lanes: Set<Lane> = [.bulk, .background]

        /// Four days: the latest time after its due day, rounded, at which a message is sent that waits for its time zone and for hours. A message that waits
        /// longer, for a credential, is not counted.
        private static let slackDays: Int32 = 4

        package var count: Int
        package var period: Duration

        /// Returns nil outside of the ranges.
        package init?(count: Int, period: Duration) {
            guard Self.counts.contains(count), Self.periods.contains(period) else { return nil }
            self.count = count
            self.period = period
        }

        /// The first due day of the messages that count for one that is due on `day`.
        package func firstDay(_ day: Int32) -> Int32 {
            day - Int32(clamping: period.components.seconds / 86_400) - Self.slackDays
        }
    }

    /// The zone of devices that have no zone of their own. Nil: UTC.
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

    /// The value without any setting.
    package static let none = AppTiming()

    /// The zone that applies to a device: its own, otherwise the app's, otherwise UTC. An unknown zone is ignored.
    package func zone(of device: DeviceClock) -> TimeZoneName {
        if let own = device.timeZone, own.isKnown { return own }
        if let app = timeZone, app.isKnown { return app }
        return .utc
    }
}

/// The time zone and window that a device reported. Nil: not reported.
package struct DeviceClock: Sendable, Hashable {
    package var timeZone: TimeZoneName?
    /// The hours in which the device may be notified. In a change, the whole day removes the window.
    package var window: DailyWindow?

    package init(timeZone: TimeZoneName? = nil, window: DailyWindow? = nil) {
        self.timeZone = timeZone
        self.window = window
    }

    package static let unset = DeviceClock()
}
