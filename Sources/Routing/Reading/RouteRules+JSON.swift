package import Model

extension RouteRules {
    /// The rules as a file states them, which `RouteReader` reads again: `read(json) == self`. Members with their default are left out.
    package var json: JSON {
        var object = JSONObject()
        if let window = duplicateWindow { object["duplicateGuard"] = ["window": .string(RouteDuration.text(window))] }
        if !calls.isEmpty { object["calls"] = .array(calls.map(\.json)) }
        if !deliveries.isEmpty { object["deliveries"] = .array(deliveries.map(\.json)) }
        return .object(object)
    }
}

extension Rollout {
    fileprivate var json: JSON {
        ["percent": .number(percent), "by": .string(unit.rawValue), "salt": .string(salt)]
    }
}

extension CallRule {
    fileprivate var json: JSON {
        var object = JSONObject()
        object["vendor"] = vendor.map { .string($0.rawValue) }
        if !kinds.isEmpty {
            object["kinds"] = .array(CallKind.allCases.filter(kinds.contains).map { .string($0.rawValue) })
        }
        if !names.isEmpty { object["names"] = .array(names.sorted().map { .string($0) }) }
        if let range = appVersions {
            var versions = JSONObject()
            versions["from"] = range.from.map { .string($0) }
            versions["below"] = range.below.map { .string($0) }
            object["appVersions"] = .object(versions)
        }
        object["rollout"] = rollout?.json
        if audience != .proxy { object["audience"] = .string(audience.rawValue) }
        object["action"] = .string(action.rawValue)
        object["upstream"] = upstream.map { .string($0.rawValue) }
        if proxiesMisses { object["onMiss"] = "proxy" }
        if servesInOutage { object["onOutage"] = "serve" }
        return .object(object)
    }
}

extension DeliveryRule {
    fileprivate var json: JSON {
        var object = JSONObject()
        object["vendor"] = vendor.map { .string($0.rawValue) }
        object["platform"] = platform.map { .string($0.rawValue) }
        object["lane"] = lane.map { .string("\($0)") }
        if !tags.isEmpty { object["tags"] = .array(tags.sorted().map { .string($0) }) }
        object["rollout"] = rollout?.json
        if !paths.isEmpty { object["paths"] = .array(paths.map { .string($0.name) }) }
        if !preferDialects.isEmpty { object["preferDialects"] = .array(preferDialects.map { .string($0.rawValue) }) }
        if coolDown != Self.standardCoolDown { object["coolDown"] = .string(RouteDuration.text(coolDown)) }
        return .object(object)
    }
}
