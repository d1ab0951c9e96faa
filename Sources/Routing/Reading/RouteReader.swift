package import Model

/// Reads `routes` of a provisioning file or of a call, and reports a mistake with its place. It checks the form only; `RouteCheck` finds what the rules mean.
package enum RouteReader {
    /// Reads the rules of an app. Null and an empty list are no rules.
    ///
    /// - Parameters:
    ///   - json: `duplicateGuard`, `calls` and `deliveries`.
    ///   - path: where it is in the file.
    /// - Returns: the rules.
    /// - Throws: `ProvisioningProblem` that names the key.
    package static func read(_ json: JSON?, path: String) throws(ProvisioningProblem) -> RouteRules {
        guard let json, json != .null, json != .array([]) else { return .none }
        var fields = try StrictFields(json, path: path)
        var rules = RouteRules()
        if let json = fields.value("duplicateGuard") {
            rules.duplicateWindow = try window(json, "\(path).duplicateGuard")
        }
        for (path, value) in try fields.list("calls") { rules.calls.append(try call(value, path)) }
        for (path, value) in try fields.list("deliveries") { rules.deliveries.append(try delivery(value, path)) }
        try fields.finish()
        return rules
    }

    private static func window(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> Duration {
        var fields = try StrictFields(json, path: path)
        let window = try duration(&fields, "window", in: RouteLimits.window)
        try fields.finish()
        guard let window else { throw ProvisioningProblem(path: "\(path).window", problem: "is missing") }
        return window
    }

    private static func call(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> CallRule {
        var fields = try StrictFields(json, path: path)
        guard let action: CallAction = try word(&fields, "action") else {
            throw ProvisioningProblem(path: "\(path).action", problem: "is missing")
        }
        var rule = CallRule(action: action)
        rule.vendor = try fields.optionalText("vendor").map { Vendor($0) }
        for (path, value) in try fields.list("kinds") {
            guard let kind = value.string.flatMap({ CallKind(rawValue: $0) }) else {
                throw ProvisioningProblem(path: path, problem: "must be one of \(words(CallKind.self))")
            }
            rule.kinds.insert(kind)
        }
        rule.names = Set(try texts(&fields, "names", limit: RouteLimits.names))
        rule.appVersions = try versions(&fields)
        rule.rollout = try rollout(&fields)
        rule.audience = try word(&fields, "audience") ?? .proxy
        rule.upstream = try fields.optionalText("upstream").map { CredentialID($0) }
        rule.proxiesMisses = try only("proxy", &fields, "onMiss")
        rule.servesInOutage = try only("serve", &fields, "onOutage")
        try fields.finish()
        return rule
    }

    private static func delivery(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> DeliveryRule {
        var fields = try StrictFields(json, path: path)
        var rule = DeliveryRule()
        rule.vendor = try fields.optionalText("vendor").map { Vendor($0) }
        rule.platform = try word(&fields, "platform")
        if let name = try fields.optionalText("lane") {
            guard let lane = Lane.allCases.first(where: { "\($0)" == name }) else {
                let known = Lane.allCases.map { "\($0)" }.joined(separator: ", ")
                throw ProvisioningProblem(path: "\(path).lane", problem: "must be one of \(known)")
            }
            rule.lane = lane
        }
        rule.tags = Set(try texts(&fields, "tags", limit: RouteLimits.tags))
        rule.rollout = try rollout(&fields)
        rule.paths = try texts(&fields, "paths", limit: RouteLimits.paths).map { DeliveryPath(name: $0) }
        rule.preferDialects = try texts(&fields, "preferDialects", limit: 16).map { Vendor($0) }
        rule.coolDown = try duration(&fields, "coolDown", in: RouteLimits.coolDown) ?? rule.coolDown
        try fields.finish()
        return rule
    }

    // MARK: Parts

    private static func rollout(_ fields: inout StrictFields) throws(ProvisioningProblem) -> Rollout? {
        guard let json = fields.value("rollout") else { return nil }
        let path = "\(fields.path).rollout"
        var fields = try StrictFields(json, path: path)
        guard let hundredths = fields.value("percent").flatMap(hundredths) else {
            throw ProvisioningProblem(
                path: "\(path).percent",
                problem: "must be a number from 0 to 100 with at most two decimals"
            )
        }
        guard let unit: Rollout.Unit = try word(&fields, "by") else {
            throw ProvisioningProblem(path: "\(path).by", problem: "is missing; use user or device")
        }
        // Other characters have several spellings, which look alike and select other members.
        guard let salt = try fields.optionalText("salt"), (1...RouteLimits.saltBytes).contains(salt.utf8.count),
            salt.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw ProvisioningProblem(
                path: "\(path).salt",
                problem:
                    "must be 1 to \(RouteLimits.saltBytes) characters of printable ASCII; rules with one salt select the same members"
            )
        }
        try fields.finish()
        return Rollout(hundredths: hundredths, by: unit, salt: salt)
    }

    /// Hundredths of a per cent from `10`, `0.25`. A number that was computed with is not accepted, because its spelling is not that of the file.
    static func hundredths(_ json: JSON) -> Int? {
        guard case .number(let text) = json else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int(parts[0]), (0...100).contains(whole),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        guard parts.count == 2 else { return whole * 100 }
        guard (1...2).contains(parts[1].utf8.count), let rest = Int(parts[1]) else { return nil }
        let hundredths = whole * 100 + (parts[1].utf8.count == 1 ? rest * 10 : rest)
        return hundredths <= 10_000 ? hundredths : nil
    }

    private static func versions(_ fields: inout StrictFields) throws(ProvisioningProblem) -> VersionRange? {
        guard let json = fields.value("appVersions") else { return nil }
        let path = "\(fields.path).appVersions"
        var fields = try StrictFields(json, path: path)
        let range = VersionRange(from: try fields.optionalText("from"), below: try fields.optionalText("below"))
        try fields.finish()
        for text in [range.from, range.below].compactMap(\.self) where text.first?.isNumber != true {
            throw ProvisioningProblem(path: path, problem: "'\(text)' is not a version like 3.10")
        }
        guard range.from != nil || range.below != nil else {
            throw ProvisioningProblem(path: path, problem: "needs from or below")
        }
        return range
    }

    private static func duration(
        _ fields: inout StrictFields,
        _ key: String,
        in range: ClosedRange<Duration>
    ) throws(ProvisioningProblem) -> Duration? {
        guard let text = try fields.optionalText(key) else { return nil }
        guard let duration = RouteDuration.read(text), range.contains(duration) else {
            let (least, most) = (RouteDuration.text(range.lowerBound), RouteDuration.text(range.upperBound))
            throw ProvisioningProblem(
                path: "\(fields.path).\(key)",
                problem: "must be a time like 30s or 10m, from \(least) to \(most)"
            )
        }
        return duration
    }

    private static func texts(
        _ fields: inout StrictFields,
        _ key: String,
        limit: Int
    ) throws(ProvisioningProblem) -> [String] {
        let list = try fields.list(key)
        guard list.count <= limit else {
            throw ProvisioningProblem(path: "\(fields.path).\(key)", problem: "at most \(limit)")
        }
        var texts: [String] = []
        for (path, value) in list {
            guard let text = value.lenientString, (1...128).contains(text.utf8.count) else {
                throw ProvisioningProblem(path: path, problem: "must be text of 1 to 128 bytes")
            }
            texts.append(text)
        }
        return texts
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ fields: inout StrictFields,
        _ key: String
    ) throws(ProvisioningProblem) -> Word? where Word.RawValue == String {
        guard let text = try fields.optionalText(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw ProvisioningProblem(path: "\(fields.path).\(key)", problem: "must be one of \(words(Word.self))")
        }
        return word
    }

    private static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> String
    where Word.RawValue == String { Word.allCases.map(\.rawValue).joined(separator: ", ") }

    /// True when a key has the one value that it may have.
    private static func only(
        _ value: String,
        _ fields: inout StrictFields,
        _ key: String
    ) throws(ProvisioningProblem) -> Bool {
        guard let text = try fields.optionalText(key) else { return false }
        guard text == value else {
            throw ProvisioningProblem(path: "\(fields.path).\(key)", problem: "may only be \(value)")
        }
        return true
    }
}

/// Times of rules: `30s`, `10m`, `24h`.
enum RouteDuration {
    static func read(_ text: String) -> Duration? {
        // Six digits: above every permitted range.
        guard text.utf8.count <= 7, let unit = text.last,
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text.dropLast())
        else { return nil }
        switch unit {
        case "s": return .seconds(number)
        case "m": return .seconds(number * 60)
        case "h": return .seconds(number * 3600)
        default: return nil
        }
    }

    static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        if seconds > 0, seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        return seconds > 0 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
    }
}
