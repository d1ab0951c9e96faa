import Model

/// `POST /users/track`: push tokens of users by external id (contract §5.1).
///
/// Attributes, events and purchases have no place in the model yet. An element with one is refused whole and says so: its caller must not take for kept
/// what is not.
struct UsersTrack {
    /// One "no" to one element.
    struct Fault: Hashable {
        var array: String
        var index: Int
        var text: String

        var json: JSON { ["type": .string(text), "input_array": .string(array), "index": .int(index)] }
    }

    /// One element of `attributes` that is carried out.
    struct Element: Hashable {
        var index: Int
        var registrations: [DeviceRegistration]
    }

    /// Arrays of the call, in the order in which they are worked off.
    static let arrays = ["attributes", "events", "purchases"]

    /// Those that came, with how many elements each.
    private(set) var counts: [String: Int] = [:]
    private(set) var elements: [Element] = []
    private(set) var faults: [Fault] = []

    /// - Throws: `AdapterError` for a call of which nothing can be done.
    init(_ body: JSONObject) throws(AdapterError) {
        for name in Self.arrays {
            guard let value = body[name], value != .null else { continue }
            guard let list = value.array else { throw BrazeText.fault(name) }
            guard list.count <= BrazeLimits.trackCount else { throw AdapterError(.invalid, field: BrazeText.tooLong) }
            counts[name] = list.count
            for (index, element) in list.enumerated() {
                do throws(AdapterError) {
                    let registrations = try Self.registrations(of: element, in: name)
                    elements.append(Element(index: index, registrations: registrations))
                } catch {
                    faults.append(Fault(array: name, index: index, text: error.field ?? BrazeText.user))
                }
            }
        }
        guard elements.reduce(0, { $0 + $1.registrations.count }) <= BrazeLimits.tokenCount else {
            throw AdapterError(.invalid, field: BrazeText.tooLong)
        }
    }

    var commands: [Command] {
        elements.flatMap { element in element.registrations.map { .registration(.register($0)) } }
    }

    /// The tokens of one element.
    ///
    /// - Throws: `AdapterError` with the text of its fault.
    private static func registrations(of element: JSON, in array: String) throws(AdapterError) -> [DeviceRegistration] {
        guard let fields = element.object else { throw BrazeText.fault(array) }
        guard array == "attributes" else {
            guard identifiers.contains(where: { (fields[$0] ?? .null) != .null }) else {
                throw AdapterError(.invalid, field: BrazeText.user)
            }
            throw BrazeText.later(array)
        }
        let user = try user(fields)
        // What is null is removed (§5.1), and there is nothing.
        for (name, value) in fields.pairs where value != .null {
            switch name {
            case "external_id", "push_tokens": continue
            // Whether there is a profile is not known: there are none.
            case "_update_existing_only", "push_token_import": if value == false { continue }
            default: break
            }
            throw BrazeText.later(String(name.prefix(BrazeLimits.expressionCharacters)))
        }
        guard let list = fields["push_tokens"]?.array, (1...BrazeLimits.tokenCount).contains(list.count) else {
            throw BrazeText.fault("push_tokens")
        }
        var registrations: [DeviceRegistration] = []
        for token in list { registrations.append(try registration(token, of: user)) }
        return registrations
    }

    private static let identifiers = ["external_id", "user_alias", "braze_id", "email", "phone"]

    /// - Throws: what names nobody, and what names somebody in a way that is not kept.
    private static func user(_ fields: JSONObject) throws(AdapterError) -> UserID {
        if let value = fields["external_id"], value != .null {
            guard let id = value.string, !id.isEmpty else { throw BrazeText.fault("external_id") }
            return UserID(id)
        }
        for name in identifiers + ["push_token_import"] {
            if let value = fields[name], value != .null, value != false { throw BrazeText.later(name) }
        }
        throw AdapterError(.invalid, field: BrazeText.user)
    }

    private static func registration(_ value: JSON, of user: UserID) throws(AdapterError) -> DeviceRegistration {
        guard let app = value["app_id"]?.string, !app.isEmpty else { throw BrazeText.fault("app_id") }
        // A token of the web or of Android is no run of hex digits.
        guard let text = value["token"]?.string, let token = DeviceToken(apns: text) else {
            throw BrazeText.fault("token")
        }
        var key: VendorDeviceKey?
        if let device = value["device_id"], device != .null {
            guard let device = device.string, !device.isEmpty else { throw BrazeText.fault("device_id") }
            key = VendorDeviceKey(device)
        }
        var registration = DeviceRegistration(key: key, platform: .ios, token: token, user: user)
        // The vendor's made-up id is random; this one is the same when the call is repeated, so that no device is there twice.
        registration.derivesKey = key == nil
        return registration
    }
}

extension UsersTrack {
    /// What came of it: the counts of what was given, and the faults in order; or why the whole call failed.
    func outcome(_ replies: [Reply]) -> Result<JSONObject, BrazeError> {
        var faults = faults
        var processed = 0
        var rest = replies[...]
        for element in elements {
            let own = rest.prefix(element.registrations.count)
            rest = rest.dropFirst(element.registrations.count)
            guard own.count == element.registrations.count else { return .failure(Self.trouble) }
            var text: String?
            for reply in own {
                switch reply {
                case .registration(.registered): continue
                case .refused(.invalid(let field)): text = text ?? Self.fault(of: field)
                case .refused(let refusal): return .failure(BrazeError(refusal))
                case .registration, .preference, .receipt, .inbox, .submission, .media, .badge:
                    return .failure(Self.trouble)
                }
            }
            if let text { faults.append(Fault(array: "attributes", index: element.index, text: text)) }
            if text == nil { processed += 1 }
        }
        var facts = JSONObject()
        for name in Self.arrays where counts[name] != nil {
            facts["\(name)_processed"] = .int(name == "attributes" ? processed : 0)
        }
        let sorted = Self.arrays.flatMap { name in
            faults.filter { $0.array == name }.sorted { $0.index < $1.index }
        }
        if !sorted.isEmpty { facts["errors"] = .array(sorted.map(\.json)) }
        return .success(facts)
    }

    private static let trouble = BrazeError(.unavailable(retryAfter: nil))

    /// What the model calls a field, in the words of this call.
    private static func fault(of field: String) -> String? {
        switch field {
        case "user": BrazeText.fault("external_id").field
        case "key": BrazeText.fault("device_id").field
        default: BrazeText.fault("push_tokens").field
        }
    }
}
