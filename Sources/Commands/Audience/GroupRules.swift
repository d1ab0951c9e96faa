import Model
import ObservationStore
import Store

/// The rules for groups of users.
enum GroupRules {
    static func plan(_ command: GroupCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .put(let name): put(name, context)
        case .delete(let name): delete(name, context)
        case .find(let name): find(name, context)
        case .changeMembers(let name, let change): changeMembers(of: name, change, context)
        case .create(let title): create(title, context)
        case .adopt(let group): adopt(group, context)
        case .list(let name): list(name, context)
        case .groups(let user): groups(of: user, context)
        case .members(let name, let user): members(name, user, context)
        }
    }

    private static func put(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.invalid("group")) }
        return Plan(PutGroup(context.scope, name)) { isNew in
            isNew.map { .group(.put(isNew: $0)) } ?? .refused(.unknownBinding)
        }
    }

    private static func delete(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(DeleteGroup(context.scope, name)) { count in
            count > 0 ? .group(.deleted) : .refused(.unknownGroup(name))
        }
    }

    private static func find(_ name: GroupName, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        return Plan(FindGroups(context.scope, [name])) { found in
            found.first.map { .group(.found($0)) } ?? .refused(.unknownGroup(name))
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
        return Plan(ChangeMembers(context.scope, name, change)) { changed in
            changed.map { .group(.membersChanged(added: $0.added, removed: $0.removed)) }
                ?? .refused(.unknownGroup(name))
        }
    }

    /// A change that a device makes: its own user joins or leaves.
    static func changeMembers(
        of name: GroupName,
        _ change: GroupChange,
        by caller: DeviceCaller,
        _ context: RuleContext
    ) -> UserPlan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        return UserPlan(FindPreferences(context.scope, caller)) { known in
            guard let user = known?.user, (change.add + change.remove).allSatisfy({ $0 == user }) else {
                return .refused(.unknownDevice)
            }
            return changeMembers(of: name, change, context)
        }
    }

    private static func groups(of user: UserID, _ context: RuleContext) -> Plan {
        guard Storable.isKey(user.rawValue) else { return .settled(.group(.groups([]))) }
        return Plan(ListGroupsOfUser(context.scope, user, limit: CommandLimits.groupRows)) { .group(.groups($0)) }
    }

    // MARK: Groups that are identified by numbers

    private static func create(_ title: String, _ context: RuleContext) -> Plan {
        guard !title.isEmpty, Storable.fits(title, CommandLimits.nameBytes) else { return .refused(.invalid("title")) }
        return Plan(CreateGroup(context.scope, title: title)) { name in
            name.map { .group(.created(TitledGroup(name: $0, title: title))) }
                ?? .refused(.unknownBinding)
        }
    }

    private static func adopt(_ group: TitledGroup, _ context: RuleContext) -> Plan {
        guard Storable.isKey(group.name.rawValue) else { return .refused(.invalid("group")) }
        guard Storable.fits(group.title, CommandLimits.nameBytes) else { return .refused(.invalid("title")) }
        return Plan(AdoptGroup(context.scope, group)) { isNew in
            isNew.map { .group(.put(isNew: $0)) } ?? .refused(.unknownBinding)
        }
    }

    private static func list(_ name: GroupName?, _ context: RuleContext) -> Plan {
        if let name, !Storable.isKey(name.rawValue) { return .refused(.unknownGroup(name)) }
        return Plan(ListTitledGroups(context.scope, name, limit: CommandLimits.groupRows)) { groups in
            if let name, groups.isEmpty { return .refused(.unknownGroup(name)) }
            return .group(.listed(groups))
        }
    }

    private static func members(_ name: GroupName, _ user: UserID?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(name.rawValue) else { return .refused(.unknownGroup(name)) }
        guard user.map({ Storable.isKey($0.rawValue) }) ?? true else { return .settled(.group(.members([]))) }
        return Plan(ListMembers(context.scope, name, user, limit: CommandLimits.groupRows)) { members in
            members.map { .group(.members($0)) } ?? .refused(.unknownGroup(name))
        }
    }
}
