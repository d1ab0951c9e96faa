import Model

// An app's `timeZone`, `quietHours`, `receivingWindows` and `frequencyCap`.
extension ProvisioningReader {
    /// - Throws: `ProvisioningProblem` that names the key.
    func timing(_ fields: inout StrictFields) throws(ProvisioningProblem) -> AppTiming {
        var timing = AppTiming()
        if let name = try fields.optionalText("timeZone") {
            timing.timeZone = try zone(name, "\(fields.path).timeZone")
        }
        if let json = fields.value("quietHours") {
            timing.quietHours = try quietHours(json, "\(fields.path).quietHours")
        }
        if let json = fields.value("receivingWindows") {
            timing.windows = try windows(json, "\(fields.path).receivingWindows")
        }
        if let json = fields.value("frequencyCap") { timing.cap = try cap(json, "\(fields.path).frequencyCap") }
        return timing
    }

    private func quietHours(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> AppTiming.QuietHours {
        var fields = try StrictFields(json, path: path)
        let from = try minute(&fields, "from")
        let to = try minute(&fields, "to")
        var own: TimeZoneName?
        if let name = try fields.optionalText("zone"), name != "device" { own = try zone(name, "\(path).zone") }
        let lanes = try lanes(&fields) ?? AppTiming.QuietHours.lanes
        let hold = try hold(&fields)
        try fields.finish()
        guard let hours = AppTiming.QuietHours(from: from, to: to, zone: own, lanes: lanes, hold: hold) else {
            throw ProvisioningProblem(path: path, problem: "from and to must differ")
        }
        return hours
    }

    private func windows(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> AppTiming.WindowRule {
        var fields = try StrictFields(json, path: path)
        let lanes = try lanes(&fields) ?? AppTiming.WindowRule.lanes
        let hold = try hold(&fields)
        try fields.finish()
        return AppTiming.WindowRule(lanes: lanes, hold: hold)
    }

    private func cap(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> AppTiming.FrequencyCap {
        var fields = try StrictFields(json, path: path)
        let count = fields.value("count")?.lenientInt
        let period = try Self.duration(fields.text("per"))
        try fields.finish()
        guard let count, let period, AppTiming.FrequencyCap.counts.contains(Int(clamping: count)),
            let cap = AppTiming.FrequencyCap(count: Int(clamping: count), period: period)
        else {
            throw ProvisioningProblem(path: path, problem: "must be { count: 1 to 1000, per: a time from 1h to 30d }")
        }
        return cap
    }

    private func zone(_ name: String, _ path: String) throws(ProvisioningProblem) -> TimeZoneName {
        guard let zone = TimeZoneName(name) else {
            throw ProvisioningProblem(
                path: path,
                problem: "'\(name)' is not a name of the IANA database like Europe/Berlin"
            )
        }
        return zone
    }

    private func minute(_ fields: inout StrictFields, _ key: String) throws(ProvisioningProblem) -> Int {
        guard let minute = DailyWindow.minute(try fields.text(key)) else {
            throw ProvisioningProblem(path: "\(fields.path).\(key)", problem: "must be a time of day like \"22:00\"")
        }
        return minute
    }

    private func hold(_ fields: inout StrictFields) throws(ProvisioningProblem) -> AppTiming.Hold {
        guard let name = try fields.optionalText("outside") else { return .delay }
        guard let hold = AppTiming.Hold(rawValue: name) else {
            throw ProvisioningProblem(path: "\(fields.path).outside", problem: "must be delay or suppress")
        }
        return hold
    }

    /// The lanes of the field; nil when the field is absent.
    private func lanes(_ fields: inout StrictFields) throws(ProvisioningProblem) -> Set<Lane>? {
        guard fields.value("lanes") != nil else { return nil }
        var lanes: Set<Lane> = []
        for (path, value) in try fields.list("lanes") {
            guard let lane = Lane.allCases.first(where: { "\($0)" == value.string }) else {
                let names = Lane.allCases.map { "\($0)" }.joined(separator: ", ")
                throw ProvisioningProblem(path: path, problem: "must be one of \(names)")
            }
            lanes.insert(lane)
        }
        return lanes
    }
}
