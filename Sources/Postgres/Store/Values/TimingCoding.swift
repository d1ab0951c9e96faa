package import Model
package import PostgresClient

/// Encodes the hours of an app in its `defaults`, which `gateway.group_by_due` reads. Only fields that are set are written.
package enum TimingCoding {
    private enum Key {
        static let timeZone = "timeZone"
        static let quiet = "quiet"
        static let windows = "windows"
        static let cap = "cap"
        static let from = "from"
        static let to = "to"
        static let zone = "zone"
        static let lanes = "lanes"
        static let hold = "hold"
        static let count = "count"
        static let seconds = "seconds"
    }

    /// Writes `timing` into `defaults`, whose other members stay. Keys and lanes have a fixed order.
    package static func write(_ timing: AppTiming, into defaults: inout JSONObject) {
        defaults[Key.timeZone] = timing.timeZone.map { .string($0.text) }
        defaults[Key.quiet] = timing.quietHours.map { quiet in
            [
                Key.from: .int(quiet.from), Key.to: .int(quiet.to),
                Key.zone: quiet.zone.map { .string($0.text) } ?? .null,
                Key.lanes: lanes(quiet.lanes), Key.hold: .string(quiet.hold.rawValue),
            ]
        }
        if timing.windows != AppTiming.WindowRule() {
            defaults[Key.windows] = [
                Key.lanes: lanes(timing.windows.lanes), Key.hold: .string(timing.windows.hold.rawValue),
            ]
        }
        defaults[Key.cap] = timing.cap.map {
            [Key.count: .int($0.count), Key.seconds: .int($0.period.milliseconds / 1000)]
        }
    }

    /// Reads the hours from `defaults`. Missing or malformed members have the defaults of `AppTiming`.
    package static func read(_ defaults: JSONObject) -> AppTiming {
        var timing = AppTiming(
            timeZone: zone(defaults[Key.timeZone]),
            quietHours: defaults[Key.quiet].flatMap(quietHours),
            cap: defaults[Key.cap].flatMap(cap)
        )
        if let rule = defaults[Key.windows] {
            timing.windows = AppTiming.WindowRule(
                lanes: lanes(rule[Key.lanes]) ?? AppTiming.WindowRule.lanes,
                hold: hold(rule[Key.hold])
            )
        }
        return timing
    }

    private static func quietHours(_ json: JSON) -> AppTiming.QuietHours? {
        guard let from = json[Key.from]?.int, let to = json[Key.to]?.int else { return nil }
        return AppTiming.QuietHours(
            from: Int(from),
            to: Int(to),
            zone: zone(json[Key.zone]),
            lanes: lanes(json[Key.lanes]) ?? AppTiming.QuietHours.lanes,
            hold: hold(json[Key.hold])
        )
    }

    private static func cap(_ json: JSON) -> AppTiming.FrequencyCap? {
        guard let count = json[Key.count]?.int, let seconds = json[Key.seconds]?.int else { return nil }
        return AppTiming.FrequencyCap(count: Int(count), period: .seconds(seconds))
    }

    private static func zone(_ json: JSON?) -> TimeZoneName? { json?.string.map { TimeZoneName(stored: $0) } }

    private static func hold(_ json: JSON?) -> AppTiming.Hold { json?.string.flatMap(AppTiming.Hold.init) ?? .delay }

    private static func lanes(_ lanes: Set<Lane>) -> JSON {
        .array(lanes.map(\.rawValue).sorted().map { .int(Int64($0)) })
    }

    private static func lanes(_ json: JSON?) -> Set<Lane>? {
        json?.array.map { Set($0.compactMap { $0.int.flatMap { Lane(rawValue: Int16(clamping: $0)) } }) }
    }
}

/// Reads the clock of a device from the columns `time_zone`, `window_from` and `window_to`.
package enum ClockRow {
    package static func read(_ row: Row) throws(PostgresError) -> DeviceClock {
        guard let from = try row.optionalInt("window_from"), let to = try row.optionalInt("window_to") else {
            return DeviceClock(timeZone: try zone(row))
        }
        return DeviceClock(timeZone: try zone(row), window: DailyWindow(from: from, to: to))
    }

    private static func zone(_ row: Row) throws(PostgresError) -> TimeZoneName? {
        try row.optionalText("time_zone").map { TimeZoneName(stored: $0) }
    }

    /// The parameters in the order of `gateway.set_clock`: zone, first minute, last minute.
    package static func parameters(_ clock: DeviceClock) -> [PostgresValue] {
        [
            .string(clock.timeZone?.text), .int32(clock.window.map { Int32(clamping: $0.from) }),
            .int32(clock.window.map { Int32(clamping: $0.to) }),
        ]
    }
}
