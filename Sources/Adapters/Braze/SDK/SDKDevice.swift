import Model

/// The facts that a call reports about its device: model, permission, time zone (docs/contracts/braze.md#3.2, docs/contracts/braze.md#3.4).
struct SDKDevice {
    private let body: JSONObject

    init(_ body: JSONObject) { self.body = body }

    /// Fields outside `device` that are also facts of the device.
    private static let facts = ["sdk_version", "sdk_flavor", "app_version", "app_version_code"]

    /// The id that the SDK chose.
    ///
    /// - Throws: `AdapterError(.missing)`.
    static func key(_ body: JSONObject) throws(AdapterError) -> VendorDeviceKey {
        guard let id = body["device_id"]?.string, (1...BrazeLimits.deviceBytes).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 >= 0x20 })
        else { throw AdapterError(.missing, field: "device_id") }
        return VendorDeviceKey(id)
    }

    var timeZone: TimeZoneName? { body["device"]?["time_zone"]?.string.flatMap { TimeZoneName($0) } }

    /// `old` with the changes of this call, which contains only changed facts. Null removes a fact; facts over the limits are dropped.
    func facts(after old: JSONObject) -> JSONObject {
        var facts = old
        var changes = body["device"]?.object?.pairs ?? []
        for name in Self.facts { if let value = body[name] { changes.append((name, value)) } }
        for (name, value) in changes {
            // Only the permission below and a verified call may set such an attribute.
            if DeviceRegistration.ownAttributes.contains(name) || name == SDKAuthentication.provenAttribute { continue }
            if value == .null {
                facts[name] = nil
            } else if facts[name] != nil || facts.count < BrazeLimits.factCount,
                name.utf8.count + JSONWriter.bytes(value).count <= BrazeLimits.factBytes
            {
                facts[name] = value
            }
        }
        if let denied = Self.denial(facts) {
            facts[DeviceRegistration.denyingAttribute] = denied ? true : nil
        }
        // If all facts together are too long, the old ones are kept.
        return JSONWriter.bytes(.object(facts)).count <= BrazeLimits.factsBytes ? facts : old
    }

    /// The names of the facts that are fields of a client.
    private static let clientFields: [(field: ClientFacts.Field, fact: String)] = [
        (.appVersion, "app_version"), (.osVersion, "os_version"), (.sdkVersion, "sdk_version"), (.model, "model"),
        (.locale, "locale"),
    ]

    /// The client's fields among all facts of a device; those that `old` contains and `facts` does not were removed.
    static func client(_ facts: JSONObject, after old: JSONObject) -> ClientFacts {
        var client = ClientFacts()
        for (field, fact) in clientFields {
            if facts[fact] == nil, old[fact] != nil { client.remove(field) }
            client.set(field, facts[fact]?.string)
        }
        return client
    }

    /// Whether the device's user denied pushes; nil: not reported. A denial in either field counts, because the other field may be out of date.
    private static func denial(_ facts: JSONObject) -> Bool? {
        let permission = facts["ios_push_auth"]?.string.map { $0 == "denied" }
        let enabled: Bool? =
            switch facts["remote_notification_enabled"] {
            case .bool(let flag)?: flag
            case .number(let number)?: number != "0"
            default: nil
            }
        guard permission != nil || enabled != nil else { return nil }
        return permission == true || enabled == false
    }

    /// The change of the push token in this call.
    enum TokenChange: Hashable {
        case none
        case set(DeviceToken)
        case clear
    }

    /// The last token in `elements`. A value that is not an Apple token is ignored.
    static func token(_ elements: [JSONObject]) -> TokenChange {
        var change = TokenChange.none
        for element in elements {
            switch element["push_token"] {
            // Assumed: null or an empty text removes it (docs/contracts/braze.md#3.4).
            case .null?, .string("")?: change = .clear
            case .string(let text)?:
                if let token = DeviceToken(apns: text) { change = .set(token) }
            case nil, .bool?, .number?, .array?, .object?: break
            }
        }
        return change
    }
}
