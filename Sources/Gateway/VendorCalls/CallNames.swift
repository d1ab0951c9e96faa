import Model

/// The names and acts in the commands of a call, as far as limits of calls depend on it. Pure.
struct CallNames: Sendable, Hashable {
    /// How a call names a device of its dialect.
    enum Identity: Sendable, Hashable {
        case key(VendorDeviceKey)
        case token(DeviceToken)

        /// Reads whether the identity is registered. Its reply goes to `isKnown`.
        var lookUp: Command {
            switch self {
            case .key(let key): .registration(.standing(key: key))
            case .token(let token): .registration(.listed(.token(token), from: nil, limit: 1))
            }
        }

        static func isKnown(_ reply: Reply) -> Bool {
            switch reply {
            case .registration(.standing(let standing)): standing?.state == .active
            case .registration(.listed(let found)): !found.isEmpty
            default: false  // a refusal
            }
        }
    }

    /// The devices that the call names as its own, the surest name first. Several names mean one device.
    private(set) var identities: [Identity] = []
    private(set) var users: [UserID] = []
    private(set) var phones: [String] = []
    /// The identities that the call may create, each by its key, or by the token that its key is derived from. Nil: the gateway draws a key, or a back end
    /// registers.
    private(set) var registrations: [Identity?] = []

    var creates: Bool { !registrations.isEmpty }

    /// Whether the call speaks for a device, a user or a phone.
    var isEmpty: Bool { identities.isEmpty && users.isEmpty && phones.isEmpty && !creates }

    /// The names that may exempt the call from the limits of its address: of a registration its own, because anyone who has one token can state it with any number
    /// of new keys; of other calls any.
    var exempting: [Identity] { creates ? registrations.compactMap(\.self) : identities }

    func isExempt(_ isKnown: (Identity) -> Bool) -> Bool {
        guard creates else { return identities.contains { isKnown($0) } }
        return registrations.allSatisfy { name in
            guard let name else { return false }
            return isKnown(name)
        }
    }

    /// Whether an app makes the call, and not a back end: its changes of users are those of its own device.
    let isOfDevice: Bool

    init(_ commands: [Command], isOfDevice: Bool = false) {
        self.isOfDevice = isOfDevice
        add(commands)
    }

    /// Adds the names of further commands of the same call.
    mutating func add(_ commands: [Command]) {
        for command in commands {
            switch command {
            case .registration(let command): read(command)
            case .preference(.preferences(let caller)), .preference(.setPreferences(let caller, _)): read(caller)
            case .receipt(let command): read(command)
            case .inbox(let command): read(command)
            case .badge(.set(_, of: let holder)): read(holder)
            case .sender(.register): registrations.append(nil)
            case .user(.track(let batch)) where isOfDevice:
                for patch in batch.patches {
                    for device in patch.devices { read(device) }
                    if case .id(let user)? = patch.user, !users.contains(user) { users.append(user) }
                }
            case .group(.changeMembers(_, let change)) where isOfDevice: read(change)
            // A back end's calls, which name others.
            case .sender, .group, .submission, .campaign, .media, .user: break
            }
        }
    }

    private mutating func read(_ command: RegistrationCommand) {
        switch command {
        case .register(let registration): read(registration)
        case .enlist(let registration, let change):
            read(registration)
            read(change)
        case .updateToken(let key, _, _), .unregister(.key(let key)), .standing(let key): add(key, nil)
        case .assign(let key, let change, _):
            add(key, nil)
            read(change)
        case .unregister(.phone(let phone)), .requestVerification(let phone, _), .verify(let phone, _, _):
            phones.append(phone)
        case .drawKey, .listed, .activity: break
        }
    }

    private mutating func read(_ change: GroupChange) {
        if let device = change.device { read(device) }
        for user in change.add + change.remove where !users.contains(user) { users.append(user) }
    }

    private mutating func read(_ registration: DeviceRegistration) {
        let derived = registration.derivesKey ? registration.token : nil
        registrations.append(registration.key.map(Identity.key) ?? derived.map(Identity.token))
        add(registration.key, registration.token)
        if let user = registration.user { users.append(user) }
        if let phone = registration.phone { phones.append(phone) }
    }

    private mutating func read(_ change: UserChange) {
        if case .set(let user, _, _, _) = change { users.append(user) }
    }

    private mutating func read(_ caller: DeviceCaller) {
        add(caller.key, caller.token)
        if let user = caller.user { users.append(user) }
    }

    private mutating func read(_ holder: BadgeHolder) {
        add(holder.key, holder.token)
        if let user = holder.user { users.append(user) }
    }

    private mutating func read(_ command: ReceiptCommand) {
        switch command {
        case .report(_, _, let reporter, _): add(reporter.key, nil)
        case .reportNumber(_, _, let caller): read(caller)
        case .acknowledge(_, _, let holder, _): read(holder)
        }
    }

    private mutating func read(_ command: InboxCommand) {
        switch command {
        case .deliveryInfo(_, let reporter): add(reporter.key, nil)
        case .appState(let key, _): add(key, nil)
        case .history(let caller, _), .message(let caller, _), .poll(let caller, _),
            .userMessage(let caller, _, _, _), .unread(let caller, _, _):
            read(caller)
        }
    }

    private mutating func add(_ key: VendorDeviceKey?, _ token: DeviceToken?) {
        if let key { identities.append(.key(key)) }
        if let token { identities.append(.token(token)) }
    }
}
