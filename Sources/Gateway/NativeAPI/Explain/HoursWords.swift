import Foundation
import Model

/// Describes the hours for which a target waits, by the present rules.
struct HoursWords {
    var why: TimingRules.Wait
    var until: Timestamp
    var rules: TimingRules
    var clock: DeviceClock

    private var zone: TimeZoneName { rules.app.zone(of: clock) }

    private var quietZone: TimeZoneName { rules.app.quietHours?.zone ?? zone }

    var sentence: String {
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

    static let shape = AnswerShape<HoursWords>(
        "WaitingHours",
        [
            .time("until", "When the push can be sent.") { $0.until },
            .word("because", "The cause of the wait.") { $0.why },
            .text("timeZone", "The zone of the hours.", example: "Asia/Seoul") { hours in
                (hours.why == .quietHours ? hours.quietZone : hours.zone).text
            },
        ]
    )
}
