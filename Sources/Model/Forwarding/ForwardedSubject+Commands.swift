extension ForwardedSubject {
    /// The subject of the call that has become `commands`: the first user and the first device that they name. Pure.
    package init(_ commands: [Command]) {
        self.init()
        var names: Set<String> = []
        for command in commands {
            add(command)
            names.formUnion(Self.names(in: command))
        }
        outlivesErasure = names.count > 1 || commands.contains(where: Self.removes)
    }

    /// Whether the upstream would keep something of the person if it did not receive the call.
    private static func removes(_ command: Command) -> Bool {
        switch command {
        case .user(.erase), .registration(.unregister), .registration(.assign(_, .clear, _)): true
        default: false  // the other commands keep or add data
        }
    }

    /// The users that the command names, and its devices without a user.
    private static func names(in command: Command) -> [String] {
        switch command {
        case .user(let command): return names(in: command)
        case .group(.changeMembers(_, let change)): return (change.add + change.remove).map(\.rawValue)
        default:  // at most one user
            var subject = ForwardedSubject()
            subject.add(command)
            return subject.user.map { [$0.rawValue] } ?? []
        }
    }

    private static func names(in command: UserCommand) -> [String] {
        switch command {
        case .track(let batch):
            let patched = batch.patches.flatMap { patch -> [String] in
                patch.user.map { [$0.text.rawValue] }
                    ?? patch.devices.compactMap { $0.key?.rawValue ?? $0.token?.text }
            }
            return patched + batch.acts.map(\.user.text.rawValue)
        case .describe(let users, _), .erase(let users): return users.map(\.text.rawValue)
        case .name(let users): return users.map { ($0.user ?? UserName.alias($0.alias).text).rawValue }
        case .identify(let users):
            return users.flatMap { user -> [String] in
                let alias = UserName.alias(user.alias).text.rawValue
                return user.user.map { [alias, $0.rawValue] } ?? [alias]
            }
        case .merge(let merges): return merges.flatMap { [$0.from.text.rawValue, $0.into.text.rawValue] }
        case .consent(let changes): return changes.flatMap { $0.users.map(\.text.rawValue) }
        }
    }

    private mutating func add(_ command: Command) {
        switch command {
        case .registration(let command): add(command)
        case .preference(.preferences(let caller)), .preference(.setPreferences(let caller, _)): add(caller)
        case .receipt(let command): add(command)
        case .badge(.set(_, of: let holder)): add(holder.key, holder.token, holder.user)
        case .user(let command): add(command)
        case .group(let command): add(command)
        case .inbox(let command): add(command)
        // Calls about messages, back ends and campaigns, which rules cannot forward.
        case .sender, .submission, .campaign, .media: break
        }
    }

    private mutating func add(_ command: RegistrationCommand) {
        switch command {
        case .register(let registration): add(registration)
        case .enlist(let registration, let change):
            add(registration)
            add(change)
        case .updateToken(let key, _, _), .unregister(.key(let key)), .standing(let key): add(key, nil, nil)
        case .assign(let key, let change, _):
            add(key, nil, nil)
            add(change)
        case .unregister(.phone(let phone)), .requestVerification(let phone, _), .verify(let phone, _, _):
            name(phone)
        case .drawKey, .listed, .activity: break
        }
    }

    private mutating func add(_ registration: DeviceRegistration) {
        add(registration.key, registration.token, registration.user)
    }

    private mutating func add(_ change: UserChange) {
        if case .set(let user, _, _, _) = change { add(nil, nil, user) }
    }

    private mutating func add(_ caller: DeviceCaller) { add(caller.key, caller.token, caller.user) }

    private mutating func add(_ command: ReceiptCommand) {
        switch command {
        case .report(_, _, let reporter, _):
            add(reporter.key, nil, nil)
            if let phone = reporter.phone { name(phone) }
        case .reportNumber(_, _, let caller): add(caller)
        case .acknowledge(_, _, let holder, _): add(holder.key, holder.token, holder.user)
        }
    }

    private mutating func add(_ command: InboxCommand) {
        switch command {
        case .deliveryInfo(_, let reporter): add(reporter.key, nil, nil)
        case .appState(let key, _): add(key, nil, nil)
        case .history(let caller, _), .message(let caller, _), .poll(let caller, _),
            .userMessage(let caller, _, _, _), .unread(let caller, _, _):
            add(caller)
        }
    }

    private mutating func add(_ command: UserCommand) {
        switch command {
        case .track(let batch):
            if let patch = batch.patches.first {
                for device in patch.devices.prefix(1) { add(device) }
                if let user = patch.user { add(user) }
            }
            if let act = batch.acts.first { add(act.user) }
        case .describe(let users, _), .erase(let users): if let user = users.first { add(user) }
        // Calls about the user who disappears must arrive before: afterwards the upstream does not know the name.
        case .identify(let users): if let first = users.first { add(UserName.alias(first.alias)) }
        case .merge(let merges): if let merge = merges.first { add(merge.from) }
        case .name(let users):
            if let first = users.first {
                let name: UserName = first.user.map { UserName.id($0) } ?? UserName.alias(first.alias)
                add(name)
            }
        case .consent(let changes): if let user = changes.first?.users.first { add(user) }
        }
    }

    private mutating func add(_ command: GroupCommand) {
        switch command {
        case .put(let group), .delete(let group), .find(let group), .members(let group, _): name(group.rawValue)
        case .adopt(let group): name(group.name.rawValue)
        case .changeMembers(let group, let change):
            // One user who joins or leaves is the subject; otherwise the group is.
            if change.add.count + change.remove.count == 1 { add(nil, nil, change.add.first ?? change.remove.first) }
            name(group.rawValue)
        case .groups(let user): add(nil, nil, user)
        case .create, .list: break
        }
    }

    /// An alias names a user as the store does.
    private mutating func add(_ user: UserName) { add(nil, nil, user.text) }

    private mutating func add(_ key: VendorDeviceKey?, _ token: DeviceToken?, _ user: UserID?) {
        if device == nil { device = key }
        if self.user == nil { self.user = user }
        if let token { name(token.text) }
    }

    private mutating func name(_ text: String) { if other == nil { other = text } }
}
