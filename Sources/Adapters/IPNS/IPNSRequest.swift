import Model

/// Converts one call to its commands (docs/contracts/ipns.md#2.5 to 2.10).
struct IPNSRequest {
    let operation: IPNSCall
    let fields: IPNSFields
    let settings: IPNSSettings
    /// A header of the gateway; the vendor has no way to repeat a send safely.
    let idempotencyKey: String?

    /// The commands of the call, which run in one transaction.
    ///
    /// - Throws: `AdapterError` naming the field that is missing, invalid or over its limit.
    func commands() throws(AdapterError) -> [Command] {
        switch operation {
        case .appRegist: try registration(keepingOwner: !settings.trustsDeviceID)
        case .recvReport: [.receipt(try report(.received, .msgID, or: .reqID))]
        case .readReport: [.receipt(try report(.read, .reqID, or: .msgID))]
        case .updateConfig: try configuration()
        case .getConfig: [.preference(.preferences(try caller()))]
        case .getMsgs: [.inbox(.history(try caller(), try page()))]
        case .getMsgDetail: [.inbox(.message(try caller(), number: try number(.reqID, or: .msgID)))]
        case .polling: [.inbox(.poll(try caller(), limit: try count(default: IPNSLimits.pollCount)))]
        case .send: [.submission(.submit(try submission()))]
        }
    }

    /// Changes the device of the call's token. A `DEVICE_ID` is known to others, so it is sufficient only if the binding permits it
    /// (docs/contracts/ipns.md#2.8).
    private func configuration() throws(AdapterError) -> [Command] {
        let change = try change()
        let caller = try caller()
        guard !settings.trustsDeviceID else { return [.preference(.setPreferences(caller, change))] }
        guard let token = caller.token else { throw fields.missing(.pushToken) }
        return [.preference(.setPreferences(DeviceCaller(token: token), change))]
    }

    /// Registers, then applies the call's `PUSH_YN`, or reads that of the device for the answer: a repeated call without it keeps the setting
    /// (docs/contracts/ipns.md#2.5).
    ///
    /// With `keepingOwner`, a `DEVICE_ID` alone is not a proof, because others may know it. Assumed: the device's token proves its owner, and a new token comes with
    /// the user of the device. A call with another token and another user is a stranger's. A device whose token is dead is free (docs/contracts/ipns.md#2.5).
    func registration(keepingOwner: Bool = false) throws(AdapterError) -> [Command] {
        let user = try fields.required(.userCN)
        let platform = try platform()
        guard let token = try token(platform) else { throw fields.missing(.pushToken) }
        let key = try fields.text(.deviceID).map { VendorDeviceKey($0) }
        var registration = DeviceRegistration(
            key: key,
            platform: platform,
            environment: settings.environment,
            token: token,
            user: UserID(user)
        )
        registration.derivesKey = true
        registration.keepsOwner = keepingOwner && key != nil
        if let version = try fields.text(.libVer) {
            registration.attributes["libVer"] = .string(version)
            registration.client.set(.sdkVersion, version)
        }
        let caller = DeviceCaller(key: key, token: token)
        let accepts = try fields.flag(.pushYN)
        let preference = accepts.map { PreferenceCommand.setPreferences(caller, PreferenceChange(acceptsPush: $0)) }
        return [.registration(.register(registration)), .preference(preference ?? .preferences(caller))]
    }

    /// The caller: by `DEVICE_ID`, otherwise by `PUSH_TOKEN` (docs/contracts/ipns.md#2.4).
    func caller() throws(AdapterError) -> DeviceCaller {
        let caller = DeviceCaller(
            key: try fields.text(.deviceID).map { VendorDeviceKey($0) },
            token: try token(try platform())
        )
        guard caller.key != nil || caller.token != nil else { throw fields.missing(.deviceID) }
        return caller
    }

    private func platform() throws(AdapterError) -> Platform {
        guard let text = try fields.text(.pushType) else { return .ios }
        guard let platform = Platform(rawValue: text.lowercased()) else { throw fields.invalid(.pushType) }
        return platform
    }

    /// An APNs token has at least 64 hex digits (docs/contracts/ipns.md#2.5).
    private func token(_ platform: Platform) throws(AdapterError) -> DeviceToken? {
        guard let text = try fields.text(.pushToken, limit: IPNSLimits.tokenBytes) else { return nil }
        let token =
            switch platform {
            case .ios: text.utf8.count < IPNSLimits.tokenDigits ? nil : DeviceToken(apns: text)
            case .android: DeviceToken(fcm: text)
            }
        guard let token else { throw fields.invalid(.pushToken) }
        return token
    }

    private func report(_ kind: ReceiptKind, _ key: IPNSFields.Key, or other: IPNSFields.Key) throws(AdapterError)
        -> ReceiptCommand
    {
        .reportNumber(kind, number: try number(key, or: other), caller: try caller())
    }

    /// The number of a message. The vendor's guide calls the same value `msg_id` and `request_id`: each call accepts both names.
    func number(_ key: IPNSFields.Key, or other: IPNSFields.Key) throws(AdapterError) -> String {
        if let number = try fields.text(key) { return number }
        guard let number = try fields.text(other) else { throw fields.missing(key) }
        return number
    }

    /// An absent or empty field leaves the value unchanged (docs/contracts/ipns.md#2.8). A call with none of the fields is refused, because it would
    /// change nothing.
    private func change() throws(AdapterError) -> PreferenceChange {
        guard fields.has([.pushYN, .startTime, .endTime, .cpUserID]) else { throw fields.missing(.pushYN) }
        return PreferenceChange(
            acceptsPush: try fields.flag(.pushYN),
            windowFrom: try minute(.startTime),
            windowTo: try minute(.endTime),
            timeZone: IPNSSettings.timeZone,
            alias: try fields.text(.cpUserID).map { UserID($0) }
        )
    }

    private func minute(_ key: IPNSFields.Key) throws(AdapterError) -> Int? {
        guard let text = try fields.text(key) else { return nil }
        guard text.utf8.count == 4, let minute = DailyWindow.minute(text) else { throw fields.invalid(key) }
        return minute
    }

    /// `N`: the newest messages, `REQ_ID` is ignored; `O`: messages older than `REQ_ID` (docs/contracts/ipns.md#2.9).
    private func page() throws(AdapterError) -> HistoryPage {
        let owner: HistoryPage.Owner
        switch try fields.required(.pushIDType) {
        case "@00": owner = .device
        // Assumed: a USER_CN that is not the device's own is refused, because no call of the vendor's library names another.
        case "@01": owner = .user(try fields.text(.userCN).map { UserID($0) })
        default: throw fields.invalid(.pushIDType)
        }
        let count = try count(default: IPNSLimits.pageCount)
        switch try fields.required(.reqType).uppercased() {
        case "N": return HistoryPage(owner, count: count)
        case "O": return HistoryPage(owner, before: try fields.required(.reqID), count: count)
        default: throw fields.invalid(.reqType)
        }
    }

    private func count(default count: Int) throws(AdapterError) -> Int {
        guard let asked = try fields.integer(.count), asked >= 1 else { return count }
        return Int(min(asked, Int64(HistoryPage.limit)))
    }
}
