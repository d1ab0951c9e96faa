import Model

/// `POST /users/track`: attributes, events and purchases of users (docs/contracts/braze.md#5.1).
struct UserTrack {
    /// The arrays of the call, in the order of processing.
    private static let arrays = ["attributes", "events", "purchases"]

    /// The refusal of one element.
    private struct Fault {
        var array: String
        var index: Int
        var text: String

        var json: JSON { ["type": .string(text), "input_array": .string(array), "index": .int(index)] }
    }

    /// The number of elements of each array in the call.
    private var counts: [String: Int] = [:]
    private var faults: [Fault] = []
    private var batch = UserBatch()
    /// The positions of the batch's patches and acts in the call.
    private var patchPlaces: [Int] = []
    private var actPlaces: [(array: String, index: Int)] = []

    /// - Throws: `AdapterError` for a call without any usable part.
    init(_ request: VendorRequest) throws(AdapterError) {
        let body = try request.brazeBody()
        for name in Self.arrays {
            guard UserFields.isGiven(body[name]) else { continue }
            guard let list = body[name]?.array else { throw BrazeText.fault(name) }
            guard list.count <= BrazeLimits.trackCount else { throw AdapterError(.invalid, field: BrazeText.tooLong) }
            counts[name] = list.count
            for (index, element) in list.enumerated() {
                do throws(AdapterError) {
                    try add(element, name, index)
                } catch {
                    faults.append(Fault(array: name, index: index, text: error.field ?? BrazeText.user))
                }
            }
        }
        guard batch.patches.reduce(0, { $0 + $1.devices.count }) <= BrazeLimits.tokenCount else {
            throw AdapterError(.invalid, field: BrazeText.tooLong)
        }
        // Assumed: a call with acts and their times is the same when it is repeated. A call that only changes attributes may intend the change twice.
        if !batch.acts.isEmpty { batch.repeatKey = BrazeSettings.hash(String(decoding: request.body, as: UTF8.self)) }
    }

    /// Empty if no element can be processed.
    var commands: [Command] { batch.patches.isEmpty && batch.acts.isEmpty ? [] : [.user(.track(batch))] }

    private mutating func add(_ element: JSON, _ array: String, _ index: Int) throws(AdapterError) {
        guard let fields = element.object else { throw BrazeText.fault(array) }
        if array == "attributes" {
            batch.patches.append(try UserAttributes(fields).patch())
            patchPlaces.append(index)
        } else {
            batch.acts.append(try Self.act(fields, array == "events" ? .event : .purchase))
            actPlaces.append((array, index))
        }
    }

    // MARK: Events and purchases

    private static func act(_ fields: JSONObject, _ kind: UserAct.Kind) throws(AdapterError) -> UserAct {
        guard let user = try UserFields.name(fields) else { throw AdapterError(.invalid, field: BrazeText.user) }
        let nameField = kind == .event ? "name" : "product_id"
        guard let name = fields[nameField]?.string, !name.isEmpty, name.count <= BrazeLimits.attributeCharacters,
            !name.hasPrefix("$")
        else { throw BrazeText.fault(nameField) }
        guard let at = fields["time"]?.string.flatMap(BrazeTime.parse) else { throw BrazeText.fault("time") }
        var updatesOnly = if case .alias = user { true } else { false }
        switch fields["_update_existing_only"] {
        case nil, .null?: break
        case .bool(let value)?: updatesOnly = value
        default: throw BrazeText.fault("_update_existing_only")
        }
        var data = JSONObject()
        if UserFields.isGiven(fields["app_id"]) {
            guard let app = fields["app_id"]?.string else { throw BrazeText.fault("app_id") }
            data["app_id"] = .string(app)
        }
        if kind == .purchase { try addPrice(fields, &data) }
        if UserFields.isGiven(fields["properties"]) {
            guard let properties = fields["properties"]?.object else { throw BrazeText.fault("properties") }
            data["properties"] = .object(properties)
        }
        return UserAct(user: user, updatesOnly: updatesOnly, kind: kind, name: name, at: at, data: data)
    }

    private static func addPrice(_ fields: JSONObject, _ data: inout JSONObject) throws(AdapterError) {
        guard let currency = fields["currency"]?.string, currency.utf8.count == 3, currency.utf8.allSatisfy(isLetter)
        else { throw BrazeText.fault("currency") }
        guard case .number(let price)? = fields["price"] else { throw BrazeText.fault("price") }
        data["currency"] = .string(currency)
        data["price"] = .number(price)
        switch fields["quantity"] {
        case nil, .null?: data["quantity"] = 1
        case let quantity?:
            guard let count = quantity.int, (1...BrazeLimits.quantity).contains(count) else {
                throw BrazeText.fault("quantity")
            }
            data["quantity"] = .int(count)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }

    // MARK: The answer

    /// The result of the call: the processed elements of each array and the faults in order; or the reason why the whole call failed. Nothing was
    /// usable if no count is above 0.
    func outcome(_ replies: [Reply]) -> Result<(facts: JSONObject, isUsable: Bool), BrazeError> {
        var faults = faults
        switch replies.first {
        case nil where commands.isEmpty: break
        case .user(.tracked(let patches, let acts))?
        where patches.count == patchPlaces.count && acts.count == actPlaces.count:
            for (index, refusal) in zip(patchPlaces, patches) {
                guard let refusal else { continue }
                guard let text = Self.text(refusal) else { return .failure(BrazeError(refusal)) }
                faults.append(Fault(array: "attributes", index: index, text: text))
            }
            for (place, refusal) in zip(actPlaces, acts) {
                guard let refusal else { continue }
                guard let text = Self.text(refusal, of: place.array) else { return .failure(BrazeError(refusal)) }
                faults.append(Fault(array: place.array, index: place.index, text: text))
            }
        case .refused(let refusal)?: return .failure(BrazeError(refusal))
        default: return .failure(BrazeError(.unavailable(retryAfter: nil)))
        }
        var facts = JSONObject()
        var isUsable = false
        for name in Self.arrays {
            guard let count = counts[name] else { continue }
            let processed = count - faults.count { $0.array == name }
            facts["\(name)_processed"] = .int(processed)
            isUsable = isUsable || processed > 0
        }
        let sorted = Self.arrays.flatMap { name in
            faults.filter { $0.array == name }.sorted { $0.index < $1.index }
        }
        if !sorted.isEmpty { facts["errors"] = .array(sorted.map(\.json)) }
        return .success((facts, isUsable))
    }

    /// The name of a field in this call for a field of the model; nil for a refusal that concerns the whole call.
    private static func text(_ refusal: Refusal, of array: String = "attributes") -> String? {
        guard case .invalid(let field) = refusal else { return nil }
        let own =
            switch field {
            case "user": "external_id"
            case "key": "device_id"
            case "data": "properties"
            case "consents": "subscription_groups"
            case "name": array == "purchases" ? "product_id" : "name"
            case _ where field.hasPrefix("attributes."):
                String(field.dropFirst(11).prefix(BrazeLimits.expressionCharacters))
            default: "push_tokens"
            }
        return BrazeText.fault(own).field
    }
}
