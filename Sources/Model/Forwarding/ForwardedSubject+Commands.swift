extension ForwardedSubject {
    /// The subject of the call that has become `commands`: the first user and the first device that they name. Pure.
    package init(_ commands: [Command]) {
        self.init()
        for command in commands { add(command) }
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
        case .name(let users), .identify(let users):
            if let first = users.first {
                let name: UserName = first.user.map { UserName.id($0) } ?? UserName.alias(first.alias)
                add(name)
            }
        case .merge(let merges): if let merge = merges.first { add(merge.into) }
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
