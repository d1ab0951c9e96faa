import Model

/// Groups of users, and preferences of devices.
enum PreferenceRules {
    static func plan(_ command: PreferenceCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .putGroup(let name): put(name, context)
        case .deleteGroup(let name): delete(name, context)
        case .group(let name): group(name, context)
        case .changeMembers(let name, let change): changeMembers(of: name, change, context)
        case .preferences(let caller): preferences(of: caller, context)
        case .setPreferences(let caller, let change): set(change, of: caller, context)
        case .createGroup(let title): GroupRules.create(title, context)
        case .listGroups(let name): GroupRules.list(name, context)
        case .listMembers(let name, let user): GroupRules.members(name, user, context)
        }
    }

    private static func put(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.invalid("group")) }
        return Plan(.putGroup(context.scope, name)) { answer in
            guard case .groupPut(let isNew) = answer else { return nil }
            return isNew.map { .preference(.groupPut(isNew: $0)) } ?? .refused(.unknownBinding)
        }
    }

    private static func delete(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(.deleteGroup(context.scope, name)) { answer in
            guard case .count(let count) = answer else { return nil }
            return count > 0 ? .preference(.groupDeleted) : .refused(.unknownGroup(name))
        }
    }

    private static func group(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(.groups(context.scope, [name])) { answer in
            guard case .groups(let found) = answer else { return nil }
            return found.first.map { .preference(.group($0)) } ?? .refused(.unknownGroup(name))
        }
    }

    private static func changeMembers(of name: GroupName, _ change: GroupChange, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        let users = change.add + change.remove
        if users.isEmpty { return .refused(.invalid("members")) }
        if users.count > GroupChange.limit { return .refused(.tooMany("members", limit: GroupChange.limit)) }
        guard users.allSatisfy({ !$0.rawValue.isEmpty && Storable.fits($0.rawValue, CommandLimits.nameBytes) }) else {
            return .refused(.invalid("members"))
        }
        return Plan(.changeMembers(context.scope, name, change)) { answer in
            guard case .membersChanged(let changed) = answer else { return nil }
            return changed.map { .preference(.membersChanged(added: $0.added, removed: $0.removed)) }
                ?? .refused(.unknownGroup(name))
        }
    }

    private static func preferences(of caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        return Plan(.preferences(context.scope, caller)) { answer in
            guard let facts = answer.preferences else { return nil }
            return facts.known.map { .preference(.preferences($0)) } ?? .refused(.unknownDevice)
        }
    }

    private static func set(_ change: PreferenceChange, of caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        let minutes = [change.windowFrom, change.windowTo].compactMap(\.self)
        guard minutes.allSatisfy((0..<1440).contains) else { return .refused(.invalid("window")) }
        if let zone = change.timeZone, !zone.isKnown { return .refused(.invalid("timeZone")) }
        if let alias = change.alias, !Storable.isKey(alias.rawValue) { return .refused(.invalid("alias")) }
        return Plan(.setPreferences(context.scope, caller, change)) { answer in
            guard case .count(let count) = answer else { return nil }
            return count > 0 ? .preference(.preferencesSet) : .refused(.unknownDevice)
        }
    }
}
