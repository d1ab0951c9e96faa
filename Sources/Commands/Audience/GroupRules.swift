import Model
import Store

/// Groups of users.
enum GroupRules {
    static func put(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.invalid("group")) }
        return Plan(PutGroup(context.scope, name)) { isNew in
            isNew.map { .preference(.groupPut(isNew: $0)) } ?? .refused(.unknownBinding)
        }
    }

    static func delete(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(DeleteGroup(context.scope, name)) { count in
            count > 0 ? .preference(.groupDeleted) : .refused(.unknownGroup(name))
        }
    }

    static func group(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(FindGroups(context.scope, [name])) { found in
            found.first.map { .preference(.group($0)) } ?? .refused(.unknownGroup(name))
        }
    }

    static func changeMembers(of name: GroupName, _ change: GroupChange, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        let users = change.add + change.remove
        if users.isEmpty { return .refused(.invalid("members")) }
        if users.count > GroupChange.limit { return .refused(.tooMany("members", limit: GroupChange.limit)) }
        guard users.allSatisfy({ !$0.rawValue.isEmpty && Storable.fits($0.rawValue, CommandLimits.nameBytes) }) else {
            return .refused(.invalid("members"))
        }
        return Plan(ChangeMembers(context.scope, name, change)) { changed in
            changed.map { .preference(.membersChanged(added: $0.added, removed: $0.removed)) }
                ?? .refused(.unknownGroup(name))
        }
    }

    // MARK: Groups that are called by numbers

    static func create(_ title: String, _ context: RuleContext) -> Plan {
        guard !title.isEmpty, Storable.fits(title, CommandLimits.nameBytes) else { return .refused(.invalid("title")) }
        return Plan(CreateGroup(context.scope, title: title)) { name in
            name.map { .preference(.groupCreated(TitledGroup(name: $0, title: title))) }
                ?? .refused(.unknownBinding)
        }
    }

    static func list(_ name: GroupName?, _ context: RuleContext) -> Plan {
        if let name, !Storable.isKey(name.rawValue) { return .refused(.unknownGroup(name)) }
        return Plan(ListTitledGroups(context.scope, name, limit: CommandLimits.groupRows)) { groups in
            if let name, groups.isEmpty { return .refused(.unknownGroup(name)) }
            return .preference(.groupList(groups))
        }
    }

    static func members(_ name: GroupName, _ user: UserID?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        guard user.map({ Storable.isKey($0.rawValue) }) ?? true else { return .settled(.preference(.memberList([]))) }
        return Plan(ListMembers(context.scope, name, user, limit: CommandLimits.groupRows)) { members in
            members.map { .preference(.memberList($0)) } ?? .refused(.unknownGroup(name))
        }
    }
}
