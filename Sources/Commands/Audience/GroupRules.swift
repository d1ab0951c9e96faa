import Model

/// Groups that are called by numbers.
enum GroupRules {
    static func create(_ title: String, _ context: RuleContext) -> Plan {
        guard !title.isEmpty, Storable.fits(title, CommandLimits.nameBytes) else { return .refused(.invalid("title")) }
        return Plan(.createGroup(context.scope, title: title)) { answer in
            guard case .groupCreated(let name) = answer else { return nil }
            return name.map { .preference(.groupCreated(TitledGroup(name: $0, title: title))) }
                ?? .refused(.unknownBinding)
        }
    }

    static func list(_ name: GroupName?, _ context: RuleContext) -> Plan {
        if let name, !Storable.isKey(name.rawValue) { return .refused(.unknownGroup(name)) }
        return Plan(.titledGroups(context.scope, name, limit: CommandLimits.groupRows)) { answer in
            guard case .titledGroups(let groups) = answer else { return nil }
            if let name, groups.isEmpty { return .refused(.unknownGroup(name)) }
            return .preference(.groupList(groups))
        }
    }

    static func members(_ name: GroupName, _ user: UserID?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        guard user.map({ Storable.isKey($0.rawValue) }) ?? true else { return .settled(.preference(.memberList([]))) }
        return Plan(.members(context.scope, name, user, limit: CommandLimits.groupRows)) { answer in
            guard case .members(let members) = answer else { return nil }
            return members.map { .preference(.memberList($0)) } ?? .refused(.unknownGroup(name))
        }
    }
}
