import Model

/// An element of `events` (docs/contracts/braze.md#3.3).
struct SDKEvent {
    let name: String
    let data: JSONObject
    /// At most as far in the future as a device's clock may be ahead.
    let at: Timestamp
    /// Whether `at` comes from the device. Otherwise it is the gateway's time, which would differ in a repeat.
    let isDated: Bool
    let user: UserID?
    private let session: String?
    /// The element as received, which distinguishes events from each other.
    let text: String

    /// Nil for a value that is not an event.
    init?(_ value: JSON, at now: Timestamp) {
        guard let fields = value.object, let name = fields["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        data = fields["data"]?.object ?? JSONObject()
        session = fields["session_id"]?.string
        user = SDKEvent.user(fields)
        text = JSONWriter.text(value)
        let reported = fields["time"].flatMap(Self.time)
        isDated = reported.map { $0 <= now + BrazeLimits.clockAhead } ?? false
        at = isDated ? reported ?? now : now
    }

    /// The user of the element; nil if it names none.
    static func user(_ fields: JSONObject) -> UserID? {
        guard let id = fields["user_id"]?.string, !id.isEmpty else { return nil }
        return UserID(id)
    }

    /// Seconds with a fraction, in any spelling of a number.
    private static func time(_ value: JSON) -> Timestamp? {
        // 9999-12-31: stores cannot represent later dates.
        guard let seconds = value.double, (0...253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(milliseconds: Int64((seconds * 1000).rounded()))
    }

    /// The user's act, if events of this name are stored as acts.
    func act(of user: UserName) -> UserAct? {
        switch name {
        case "ce":
            guard let name = Self.name(data["n"]) else { return nil }
            return act(.event, name, of: user, with: data["p"], [:])
        case "p":
            guard let name = Self.name(data["pid"]), let price = Self.price(data) else { return nil }
            return act(.purchase, name, of: user, with: data["pr"], price)
        // These are stored as `changes`.
        case "inc", "add", "rem", "set", "lcaa": return nil
        default:
            guard name.utf8.count <= BrazeLimits.eventNameBytes else { return nil }
            return act(.signal, name, of: user, with: data.isEmpty ? nil : .object(data), [:])
        }
    }

    private func act(
        _ kind: UserAct.Kind,
        _ name: String,
        of user: UserName,
        with properties: JSON?,
        _ facts: JSONObject
    ) -> UserAct {
        var facts = facts
        if let properties = properties?.object { facts["properties"] = .object(properties) }
        facts["session_id"] = session.map { .string($0) }
        return UserAct(user: user, kind: kind, name: name, at: at, data: facts)
    }

    private static func name(_ value: JSON?) -> String? {
        guard let name = value?.string, !name.isEmpty, name.count <= BrazeLimits.attributeCharacters,
            !name.hasPrefix("$")
        else { return nil }
        return name
    }

    /// In the format of `/users/track`.
    private static func price(_ data: JSONObject) -> JSONObject? {
        guard let currency = data["c"]?.string, currency.utf8.count == 3,
            currency.utf8.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }), case .number(let price)? = data["p"]
        else { return nil }
        let quantity = data["q"]?.int ?? 1
        guard (1...BrazeLimits.quantity).contains(quantity) else { return nil }
        return ["currency": .string(currency), "price": .number(price), "quantity": .int(quantity)]
    }

    /// The changes to the user's attributes.
    var changes: [AttributeChange] {
        switch name {
        case ExportedApp.sessionStart:
            let time = BrazeTime.text(at)
            return [
                AttributeChange("date_of_first_session", .first(.string(time))),
                AttributeChange("date_of_last_session", .latest(time)),
            ]
        case "inc", "add", "rem", "set", "lcaa": return edit.map { [$0] } ?? []
        default: return []
        }
    }

    private var edit: AttributeChange? {
        guard let key = Self.name(data["key"]), !UserAttributes.standard.contains(key) else { return nil }
        let value = data["value"]
        switch (name, value) {
        case ("inc", .number(let step)?): return AttributeChange(key, .increase(step))
        case ("add", let value?) where Self.isItem(value): return AttributeChange(key, .append([value]))
        case ("rem", let value?) where Self.isItem(value): return AttributeChange(key, .withdraw([value]))
        case ("set", .array(let list)?) where list.allSatisfy(Self.isItem):
            return AttributeChange(key, .set(.array(list)))
        case ("lcaa", _):
            guard case .number(let latitude)? = data["latitude"], case .number(let longitude)? = data["longitude"]
            else { return nil }
            return AttributeChange(key, .set(["latitude": .number(latitude), "longitude": .number(longitude)]))
        default: return nil
        }
    }

    private static func isItem(_ value: JSON) -> Bool {
        switch value {
        case .string(let text): text.count <= BrazeLimits.attributeCharacters
        case .number, .bool: true
        case .null, .array, .object: false
        }
    }
}
