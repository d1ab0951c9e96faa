import Model

/// `audience`: the filter that selects the users of a message (docs/contracts/braze.md#5.10). It is evaluated when a push is written, on the user's
/// data at that time.
indirect enum AudienceFilter: Hashable {
    case all([AudienceFilter])
    case any([AudienceFilter])
    case attribute(String, AttributeTest)
    case pushState(String, isNot: Bool)
    case lastUse(after: Bool, Timestamp)

    /// The key, in a content's data, of the filter as it was received.
    static let key = "audience"

    /// The comparisons and steps that the rest of a filter may use.
    private struct Allowance {
        var leaves = BrazeLimits.filterLeaves
        var steps = BrazeLimits.filterSteps
    }

    /// Reads the filter of a body; nil if it has none.
    ///
    /// - Throws: `AdapterError` with the text of the answer. An unknown comparison is refused, because ignoring it would select other users.
    static func read(_ body: JSONObject) throws(AdapterError) -> JSON? {
        guard let value = body[key], value != .null, value != [:] else { return nil }
        guard JSONWriter.bytes(value).count <= BrazeLimits.filterBytes else { throw BrazeText.fault(key) }
        var left = Allowance()
        _ = try parse(value, depth: 1, &left)
        return value
    }

    /// - Throws: `AdapterError` for a filter that `read` would refuse.
    init(stored value: JSON) throws(AdapterError) {
        var left = Allowance()
        self = try Self.parse(value, depth: 1, &left)
    }

    private static func parse(_ value: JSON, depth: Int, _ left: inout Allowance) throws(AdapterError) -> AudienceFilter
    {
        guard let object = value.object, object.count == 1, let (name, inner) = object.pairs.first,
            depth <= BrazeLimits.filterDepth
        else { throw BrazeText.fault(key) }
        if name == "AND" || name == "OR" {
            guard let list = inner.array, !list.isEmpty else { throw BrazeText.fault("\(key).\(name)") }
            var parts: [AudienceFilter] = []
            for part in list { parts.append(try parse(part, depth: depth + 1, &left)) }
            return name == "AND" ? .all(parts) : .any(parts)
        }
        left.leaves -= 1
        guard left.leaves >= 0 else { throw BrazeText.fault(key) }
        let leaf = try leaf(name, inner)
        if case .attribute(_, .matches(let pattern, _)) = leaf { left.steps -= pattern.cost }
        guard left.steps >= 0 else { throw BrazeText.fault("\(key).custom_attribute") }
        return leaf
    }

    private static func leaf(_ name: String, _ value: JSON) throws(AdapterError) -> AudienceFilter {
        guard let fields = value.object else { throw BrazeText.fault("\(key).\(name.prefix(40))") }
        let comparison = fields["comparison"]?.string ?? ""
        switch name {
        case "custom_attribute":
            guard let attribute = fields["custom_attribute_name"]?.string, !attribute.isEmpty,
                attribute.count <= BrazeLimits.attributeCharacters,
                let test = AttributeTest(comparison, fields["value"])
            else { throw BrazeText.fault("\(key).custom_attribute") }
            return .attribute(attribute, test)
        case "push_subscription_status":
            let states = ["opted_in", "subscribed", "unsubscribed"]
            guard comparison == "is" || comparison == "is_not", let state = fields["value"]?.string,
                states.contains(state)
            else { throw BrazeText.fault("\(key).push_subscription_status") }
            return .pushState(state, isNot: comparison == "is_not")
        case "last_used_app":
            guard comparison == "after" || comparison == "before",
                let time = fields["value"]?.string.flatMap({ BrazeTime.date($0) })
            else { throw BrazeText.fault("\(key).last_used_app") }
            return .lastUse(after: comparison == "after", time)
        default: throw BrazeText.later("\(key).\(name.prefix(40))")
        }
    }

    // MARK: Evaluation

    /// Whether the filter selects the user of a target at `now`.
    func includes(_ target: TargetFacts, at now: Timestamp) -> Bool {
        means(target.person.attributes, acceptsPush: target.acceptsPush, at: now)
    }

    /// Whether the filter selects a user with these attributes at `now`.
    func means(_ attributes: JSONObject, acceptsPush: Bool, at now: Timestamp) -> Bool {
        switch self {
        case .all(let parts): parts.allSatisfy { $0.means(attributes, acceptsPush: acceptsPush, at: now) }
        case .any(let parts): parts.contains { $0.means(attributes, acceptsPush: acceptsPush, at: now) }
        case .attribute(let name, let test): test.holds(attributes[name], at: now)
        case .pushState(let state, let isNot):
            (attributes["push_subscribe"]?.string ?? (acceptsPush ? "subscribed" : "unsubscribed") == state) != isNot
        case .lastUse(let after, let time):
            // Assumed: a user without a session counts as one whose last session was before any time.
            attributes["date_of_last_session"]?.string.flatMap { BrazeTime.date($0) }
                .map { after ? $0 > time : $0 < time } ?? !after
        }
    }
}

/// A comparison with one attribute. Assumed: a missing attribute is unequal to every value, and never includes, matches, exceeds or precedes a value.
enum AttributeTest: Hashable {
    case equals(JSON, isNot: Bool)
    case matches(AudiencePattern, isNot: Bool)
    case exists(isNot: Bool)
    case includes(JSON, isNot: Bool)
    /// `greater`: the attribute must be greater; `orEqual`: equal values match too.
    case number(JSON, greater: Bool, orEqual: Bool)
    case time(Timestamp, after: Bool)
    /// A distance from now in days, in the future or the past; `isWithin`: the time must be nearer than that.
    case days(Int64, ahead: Bool, isWithin: Bool)

    /// Nil for an unknown comparison, or a value that does not fit it.
    init?(_ comparison: String, _ value: JSON?) {
        func scalar() -> JSON? {
            switch value {
            case .string(let text)?: text.count <= BrazeLimits.attributeCharacters ? value : nil
            case .number?, .bool?: value
            case nil, .null?, .array?, .object?: nil
            }
        }
        func made(_ make: (JSON) -> AttributeTest) -> AttributeTest? { scalar().map(make) }
        let test: AttributeTest?
        switch comparison {
        case "equals": test = made { .equals($0, isNot: false) }
        case "not_equal", "does_not_equal": test = made { .equals($0, isNot: true) }
        case "includes_value": test = made { .includes($0, isNot: false) }
        case "does_not_include_value": test = made { .includes($0, isNot: true) }
        case "exists": test = .exists(isNot: false)
        case "does_not_exist": test = .exists(isNot: true)
        case "matches_regex", "does_not_match_regex":
            test = value?.string.flatMap(AudiencePattern.init).map {
                .matches($0, isNot: comparison == "does_not_match_regex")
            }
        case "greater_than", "greater_than_or_equal_to", "less_than", "less_than_or_equal_to":
            guard case .number? = value else { return nil }
            test = made {
                .number($0, greater: comparison.hasPrefix("greater"), orEqual: comparison.hasSuffix("equal_to"))
            }
        case "after", "before":
            test = value?.string.flatMap { BrazeTime.date($0) }.map { .time($0, after: comparison == "after") }
        default: test = Self.days(comparison, value)
        }
        guard let test else { return nil }
        self = test
    }

    private static func days(_ comparison: String, _ value: JSON?) -> AttributeTest? {
        guard let count = value?.int, (0...BrazeLimits.filterDays).contains(count) else { return nil }
        return switch comparison {
        case "less_than_x_days_ago": .days(count, ahead: false, isWithin: true)
        case "greater_than_x_days_ago": .days(count, ahead: false, isWithin: false)
        case "less_than_x_days_in_the_future": .days(count, ahead: true, isWithin: true)
        case "greater_than_x_days_in_the_future": .days(count, ahead: true, isWithin: false)
        default: nil
        }
    }

    func holds(_ value: JSON?, at now: Timestamp) -> Bool {
        switch self {
        case .exists(let isNot): return (value != nil) != isNot
        case .equals(let other, let isNot): return (value.map { LiquidValue.isEqual($0, other) } ?? false) != isNot
        case .includes(let other, let isNot):
            return (value?.array?.contains { LiquidValue.isEqual($0, other) } ?? false) != isNot
        case .matches(let pattern, let isNot): return (value?.string.map(pattern.matches) ?? false) != isNot
        case .number(let bound, let greater, let orEqual):
            guard let value, case .number = value else { return false }
            if LiquidValue.isEqual(value, bound) { return orEqual }
            return LiquidValue.isLess(greater ? bound : value, greater ? value : bound) ?? false
        case .time(let bound, let after):
            guard let time = value?.string.flatMap({ BrazeTime.date($0) }) else { return false }
            return after ? time > bound : time < bound
        case .days(let count, let ahead, let isWithin):
            guard let time = value?.string.flatMap({ BrazeTime.date($0) }) else { return false }
            let span = Duration.seconds(count * 86_400)
            if ahead { return isWithin ? time >= now && time < now + span : time > now + span }
            return isWithin ? time <= now && time + span > now : time + span < now
        }
    }
}

extension Content {
    /// Restricts the message to those of its audience that the body's filter selects.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    mutating func narrow(by body: JSONObject) throws(AdapterError) {
        guard let filter = try AudienceFilter.read(body) else { return }
        data[AudienceFilter.key] = filter
        // The attributes of users are loaded only for templates.
        isTemplate = true
    }
}
