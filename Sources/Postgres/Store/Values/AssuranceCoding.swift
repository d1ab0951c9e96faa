package import Model

/// Encodes the levels that an app's messages need in its `defaults`. `gateway.meant` reads `mixedAssurance`. Only fields that are set are written.
package enum AssuranceCoding {
    private enum Key {
        static let minimum = "minAssurance"
        static let standard = "default"
        static let isMixed = "mixedAssurance"
    }

    /// Writes `rules` into `defaults`, whose other members stay.
    package static func write(_ rules: AssuranceRules, into defaults: inout JSONObject) {
        if rules.isMixed { defaults[Key.isMixed] = true }
        guard rules.minimum != .claimed || !rules.lanes.isEmpty else { return }
        var levels = JSONObject([(Key.standard, .string(rules.minimum.rawValue))])
        for lane in Lane.allCases { levels["\(lane)"] = rules.lanes[lane].map { .string($0.rawValue) } }
        defaults[Key.minimum] = .object(levels)
    }

    /// Reads the rules from `defaults`. Missing or malformed members have the defaults of `AssuranceRules`.
    package static func read(_ defaults: JSONObject) -> AssuranceRules {
        var rules = AssuranceRules(isMixed: defaults[Key.isMixed]?.bool ?? false)
        guard let levels = defaults[Key.minimum]?.object else { return rules }
        func level(_ key: String) -> Assurance? { levels[key]?.string.flatMap(Assurance.init) }
        rules.minimum = level(Key.standard) ?? .claimed
        for lane in Lane.allCases { rules.lanes[lane] = level("\(lane)") }
        return rules
    }
}
