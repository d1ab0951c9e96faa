import Model

/// Decodes one call to commands. A missing or invalid parameter is reported with the vendor's name.
struct UPMCRequest {
    let endpoint: UPMCCall
    let parameters: Parameters
    let settings: UPMCSettings
    let receivedAt: Timestamp

    /// The commands of the call; empty for calls that are answered without the store.
    func commands() throws(AdapterError) -> [Command] {
        switch endpoint {
        case .askingAuthorization:
            _ = try parameters.required("PSID", limit: UPMCLimits.tokenBytes)
            return []
        // Assumed: the answer's format is unknown; after an error the library continues without server keys (docs/contracts/upmc.md#1.8.14).
        case .encryptionKey: throw AdapterError(.notFound)
        case .reallocateBroker: throw AdapterError(.notFound, field: "UPNS")
        case .brokerConfiguration, .putLog: return []
        case .registerService, .addService: return [try registerService(user: try serviceUser())]
        case .registerServiceAndUser, .registerWebServiceAndUser:
            return [try registerService(user: try combinedUser())]
        case .registerUser: return [try registerUser()]
        case .getService: return [.registration(.standing(key: try DeviceName(parameters).key))]
        case .deleteService: return [.registration(.unregister(.key(try DeviceName(parameters).key)))]
        case .deleteUser: return [.registration(.assign(key: try DeviceName(parameters).key, .clear))]
        case .joinGroup: return [try membership(GroupChange(add: [try member()]))]
        case .leaveGroup: return [try membership(GroupChange(remove: [try member()]))]
        case .groupUsers: return [.group(.members(try group(), try DeviceName.user(parameters)))]
        case .registerGroup:
            return [.group(.create(title: try parameters.required("GROUPNAME", limit: 256)))]
        case .groups:
            return [.group(.list(try parameters.text("GROUPSEQ").map { GroupName($0) }))]
        case .deleteGroup: return [.group(.delete(try group()))]
        case .acknowledge: return [.receipt(try receipt(.received, nil))]
        case .read: return [.receipt(try receipt(.read, try badgeChange()))]
        case .setBadge: return [.badge(.set(try badge(), of: DeviceName.reporter(parameters, settings)))]
        case .send, .sendToGroup, .sendToList: return [.submission(.submit(try submission()))]
        case .alive: return [.inbox(.appState(key: try DeviceName(parameters).key, isActive: false))]
        case .messageList: return [try messageList()]
        case .message: return [try message()]
        case .unreadCount: return try unreadCount()
        case .lastSession, .purchase: throw AdapterError(.notFound)  // in JSON, and decoded by `MarketingRequest`
        }
    }

    // MARK: Registration (docs/contracts/upmc.md#1.8.2)

    private func registerService(user: UserChange) throws(AdapterError) -> Command {
        let device = try DeviceName(parameters)
        guard device.token != nil else { throw AdapterError(.missing, field: "PSID") }
        return .registration(.enlist(try registration(of: device), user))
    }

    private func registration(of device: DeviceName) throws(AdapterError) -> DeviceRegistration {
        var attributes = JSONObject()
        for name in ["DEVICE_MD", "OS_VER", "APP_VER", "P256DH", "PUB_TOKEN"] {
            attributes[name] = try parameters.text(name, limit: UPMCLimits.tokenBytes).map { .string($0) }
        }
        // Nil: the stored environment, or production. The delivery engine tries a token that belongs to the other environment there.
        let mode = try parameters.text("APNS_MODE")
        let environment: PushEnvironment? = mode.map { $0.uppercased() == "DEV" ? .sandbox : .production }
        var registration = DeviceRegistration(
            key: device.key,
            platform: device.network.platform,
            environment: environment,
            token: device.token,
            phone: try phone(),
            attributes: attributes
        )
        registration.client = ClientFacts([
            .appVersion: attributes["APP_VER"]?.string, .osVersion: attributes["OS_VER"]?.string,
            .model: attributes["DEVICE_MD"]?.string,
        ])
        return registration
    }

    /// The library sends eleven zeros if there is none.
    private func phone() throws(AdapterError) -> String? {
        guard let text = try parameters.text("PHONENUM") else { return nil }
        let digits = text.filter { $0.isASCII && $0.isNumber }
        return digits.contains { $0 != "0" } ? digits : nil
    }

    private func assigned(_ user: UserID) throws(AdapterError) -> UserChange {
        let name = try parameters.text("CNAME", limit: 256)
        return .set(
            user,
            name: name == AuthKey.guest ? nil : name,
            phone: try phone(),
            isExclusive: settings.isSingleDevicePerUser
        )
    }

    /// An empty user keeps the current one.
    private func serviceUser() throws(AdapterError) -> UserChange {
        guard let user = try DeviceName.user(parameters) else { return .keep }
        return try assigned(user)
    }

    /// Assumed: a combined call with GUEST clears the user, because after a logout the device must not receive messages for the previous user.
    private func combinedUser() throws(AdapterError) -> UserChange {
        guard let user = try DeviceName.user(parameters) else {
            return parameters.all("CUID").isEmpty ? .keep : .clear
        }
        return try assigned(user)
    }

    private func registerUser() throws(AdapterError) -> Command {
        let device = try DeviceName(parameters)
        guard let user = try DeviceName.user(parameters) else {
            _ = try parameters.required("CUID")
            return .registration(.assign(key: device.key, .clear))
        }
        // Until 3.5 the user was registered before the service, so the device has no token yet.
        guard settings.version <= .v35 else {
            return .registration(.assign(key: device.key, try assigned(user)))
        }
        var registration = try registration(of: device)
        registration.token = nil
        return .registration(.enlist(registration, try assigned(user)))
    }

    // MARK: Groups (docs/contracts/upmc.md#1.8.8)

    func group() throws(AdapterError) -> GroupName {
        GroupName(try parameters.required("GROUPSEQ"))
    }

    /// A call that names a device changes only the membership of the device's user.
    ///
    /// Assumed: not every client names its device, or in a form that can be read, so a `CUID` alone is enough, unless the binding forbids it (`groupsByUser`).
    private func membership(_ change: GroupChange) throws(AdapterError) -> Command {
        let name = try group()
        var change = change
        let device: DeviceName? =
            if settings.acceptsGroupsByUser { try? DeviceName(parameters) } else { try DeviceName(parameters) }
        change.device = device.map { DeviceCaller(key: $0.key, token: $0.token) }
        return .group(.changeMembers(name, change))
    }

    func member() throws(AdapterError) -> UserID {
        _ = try parameters.required("CUID")
        guard let user = try DeviceName.user(parameters) else { throw AdapterError(.invalid, field: "CUID") }
        return user
    }

    // MARK: Receipts and badges (docs/contracts/upmc.md#1.8.9)

    private func receipt(_ kind: ReceiptKind, _ change: BadgeChange?) throws(AdapterError) -> ReceiptCommand {
        let number = try parameters.required("SEQNO")
        return .acknowledge(kind, reference: number, DeviceName.reporter(parameters, settings), change)
    }

    private func badgeChange() throws(AdapterError) -> BadgeChange? {
        guard let count = try parameters.integer("BADGENO") else { return nil }
        guard (-1...UPMCLimits.badge).contains(count) else { throw AdapterError(.invalid, field: "BADGENO") }
        return count < 0 ? .keep : .set(count)
    }

    private func badge() throws(AdapterError) -> Int {
        _ = try parameters.required("BADGENO")
        guard let count = try parameters.integer("BADGENO"), (0...UPMCLimits.badge).contains(count) else {
            throw AdapterError(.invalid, field: "BADGENO")
        }
        return count
    }
}
