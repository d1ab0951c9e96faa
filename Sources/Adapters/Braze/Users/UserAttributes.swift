import Model

/// An element of `attributes`: the changes of one user (docs/contracts/braze.md#5.1).
struct UserAttributes {
    private let fields: JSONObject

    init(_ fields: JSONObject) { self.fields = fields }

    /// Attributes with a defined meaning. All others are custom.
    static let standard: Set<String> = [
        "country", "current_location", "date_of_first_session", "date_of_last_session", "dob", "email",
        "email_subscribe",
        "first_name", "gender", "home_city", "image_url", "language", "last_name", "phone", "push_subscribe",
        "time_zone",
    ]

    private static let genders: Set<String> = ["M", "F", "O", "N", "P"]
    private static let subscriptions: Set<String> = ["opted_in", "subscribed", "unsubscribed"]
    /// Fields that are not attributes: the user, the devices, and options.
    private static let own: Set<String> = [
        "external_id", "user_alias", "braze_id", "push_tokens", "push_token_import", "_update_existing_only",
        "_merge_objects", "subscription_groups",
    ]

    /// - Throws: `AdapterError` with the text of the fault.
    func patch() throws(AdapterError) -> UserPatch {
        let isImport = try flag("push_token_import") ?? false
        let name = isImport ? try nobody() : try UserFields.name(fields)
        guard name != nil || isImport else { throw AdapterError(.invalid, field: BrazeText.user) }
        let byAlias = if case .alias = name { true } else { false }
        var patch = UserPatch(user: name, updatesOnly: try flag("_update_existing_only") ?? byAlias)
        patch.devices = try devices()
        guard !isImport else {
            guard !patch.devices.isEmpty else { throw BrazeText.fault("push_tokens") }
            return patch
        }
        let merges = try flag("_merge_objects") ?? false
        for (name, value) in fields.pairs where !Self.own.contains(name) {
            patch.changes.append(AttributeChange(name, try Self.edit(name, value, merges: merges)))
        }
        if let state = fields["push_subscribe"]?.string {
            patch.acceptsPush = state != "unsubscribed"
            patch.isOptedIn = state == "opted_in"
        }
        patch.consents = try SubscriptionFields.consents(fields)
        return patch
    }

    /// An import of tokens must not name a user.
    private func nobody() throws(AdapterError) -> UserName? {
        for field in ["external_id", "user_alias", "braze_id"] where UserFields.isGiven(fields[field]) {
            throw BrazeText.fault(field)
        }
        return nil
    }

    private func flag(_ field: String) throws(AdapterError) -> Bool? {
        switch fields[field] {
        case nil, .null?: return nil
        case .bool(let value)?: return value
        default: throw BrazeText.fault(field)
        }
    }

    // MARK: Attributes

    static func edit(_ name: String, _ value: JSON, merges: Bool) throws(AdapterError) -> AttributeChange.Edit {
        guard !name.isEmpty, name.count <= BrazeLimits.attributeCharacters, !name.hasPrefix("$") else {
            throw BrazeText.fault(String(name.prefix(BrazeLimits.expressionCharacters)))
        }
        if value == .null { return .remove }
        if standard.contains(name) {
            guard isStandard(name, value) else { throw BrazeText.fault(name) }
            return .set(value)
        }
        guard let object = value.object else {
            guard isValue(value) else { throw BrazeText.fault(name) }
            return .set(value)
        }
        if let edit = try operation(name, object) { return edit }
        // Such an object changes the members of a list of objects, which is not supported.
        guard !object.pairs.contains(where: { $0.key.hasPrefix("$") }) else { throw BrazeText.later(name) }
        return merges ? .merge(object) : .set(value)
    }

    /// `{"inc": n}`, `{"add": […]}` and `{"remove": […]}`, each alone; nil for an object that is a plain value.
    private static func operation(_ name: String, _ object: JSONObject) throws(AdapterError) -> AttributeChange.Edit? {
        guard object.count == 1, let (key, value) = object.pairs.first else { return nil }
        switch (key, value) {
        case ("inc", .number(let step)): return .increase(step)
        case ("inc", _): throw BrazeText.fault(name)
        case ("add", .array(let list)) where list.allSatisfy(isValue): return .append(list)
        case ("remove", .array(let list)) where list.allSatisfy(isValue): return .withdraw(list)
        case ("add", _), ("remove", _): throw BrazeText.fault(name)
        default: return nil
        }
    }

    private static func isStandard(_ name: String, _ value: JSON) -> Bool {
        switch name {
        case "current_location":
            if case (.number?, .number?) = (value["longitude"], value["latitude"]) { return true }
            return false
        case "gender": return value.string.map(genders.contains) ?? false
        case "push_subscribe", "email_subscribe": return value.string.map(subscriptions.contains) ?? false
        default: return value.string != nil && isValue(value)
        }
    }

    /// Checks the length of a text; other values are bounded by the limits of the store.
    private static func isValue(_ value: JSON) -> Bool {
        value.string.map { $0.count <= BrazeLimits.attributeCharacters } ?? true
    }

    // MARK: Devices

    private func devices() throws(AdapterError) -> [DeviceRegistration] {
        guard UserFields.isGiven(fields["push_tokens"]) else { return [] }
        guard let list = fields["push_tokens"]?.array, (1...BrazeLimits.tokenCount).contains(list.count) else {
            throw BrazeText.fault("push_tokens")
        }
        var devices: [DeviceRegistration] = []
        for token in list { devices.append(try Self.device(token)) }
        return devices
    }

    private static func device(_ value: JSON) throws(AdapterError) -> DeviceRegistration {
        guard let app = value["app_id"]?.string, !app.isEmpty else { throw BrazeText.fault("app_id") }
        // Tokens of the web and of Android are not hex digits.
        guard let text = value["token"]?.string, let token = DeviceToken(apns: text) else {
            throw BrazeText.fault("token")
        }
        var key: VendorDeviceKey?
        if let device = value["device_id"], device != .null {
            guard let device = device.string, !device.isEmpty else { throw BrazeText.fault("device_id") }
            key = VendorDeviceKey(device)
        }
        var registration = DeviceRegistration(key: key, platform: .ios, token: token)
        // The vendor generates a random id; this one is the same when the call is repeated, so that no device is stored twice.
        registration.derivesKey = key == nil
        // Only a REST key can name tokens.
        registration.assurance = .vouched
        return registration
    }
}
