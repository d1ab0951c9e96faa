import Foundation
package import Model

/// Describes the hours for which a target waits, by the present rules.
package struct HoursWords: Sendable {
    package var why: TimingRules.Wait
    package var until: Timestamp
    package var rules: TimingRules
    package var clock: DeviceClock

    package init(why: TimingRules.Wait, until: Timestamp, rules: TimingRules, clock: DeviceClock) {
        self.why = why
        self.until = until
        self.rules = rules
        self.clock = clock
    }

    /// The zone of the hours.
    package var hoursZone: TimeZoneName { why == .quietHours ? quietZone : zone }

    private var zone: TimeZoneName { rules.app.zone(of: clock) }

    private var quietZone: TimeZoneName { rules.app.quietHours?.zone ?? zone }

    /// The wait and its cause.
    package var sentence: String {
        let date = Date(timeIntervalSince1970: Double(until.milliseconds) / 1000)
        let start = "It waits until \(date.formatted(.iso8601)), because"
        switch why {
        case .localTime: return "\(start) it is then \(LocalTime(until, in: zone)) in the device's time zone, \(zone)."
        case .quietHours:
            let hours = rules.app.quietHours.map { "\(DailyWindow.text($0.from)) to \(DailyWindow.text($0.to))" }
            return "\(start) of the app's quiet hours, \(hours ?? "") in \(quietZone)."
        case .receivingWindow:
            return "\(start) of the device's receiving window, \(clock.window?.description ?? "") in \(zone)."
        }
    }
}
