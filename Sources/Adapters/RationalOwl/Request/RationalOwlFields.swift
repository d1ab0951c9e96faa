import HTTPTypes
package import Model

/// The fields of a request (docs/contracts/rationalowl.md#3): lenient about types and extra keys, strict about presence, size and characters.
///
/// A number may be sent as a string and a string as a number; an empty string counts as absent; unknown keys are ignored. The body may be JSON under
/// any content type, or a form with the same keys. The JSON syntax itself is not relaxed.
package struct RationalOwlFields: Sendable {
    /// The prefix of a key in an error's field name: `msg.`.
    private let path: String
    private let object: JSONObject

    /// No fields, for a body that could not be read.
    init() {
        self.init(JSONObject(), below: "")
    }

    init(_ object: JSONObject, below path: String) {
        self.object = object
        self.path = path
    }

    /// The fields of a request's body.
    ///
    /// - Throws: `AdapterError(.unreadable)` if it is neither a JSON object nor a form.
    package init(_ request: VendorRequest) throws(AdapterError) {
        let isForm = request.headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        // `curl -d` declares a form whatever it sends, so the body's first byte decides.
        let first = request.body.first { !Self.isSpace($0) }
        if isForm, first != UInt8(ascii: "{") {
            self.init(try FormBody.parse(request.body, pairLimit: RationalOwlLimits.formPairCount), below: "")
            return
        }
        self.init(try request.bodyObject(), below: "")
    }

    /// Whether the key is present, even if it is empty: some answers repeat exactly the keys of the request.
    func has(_ key: String) -> Bool { object[key] != nil }

    /// The text by which an answer repeats this field; empty if it cannot be repeated. It never fails, because error answers use it too.
    func echo(_ key: String) -> String {
        guard let text = object[key]?.lenientString, text.utf8.count <= RationalOwlLimits.identifierBytes else {
            return ""
        }
        return text
    }

    /// A text; nil if it is absent, null or empty.
    ///
    /// - Throws: `AdapterError(.invalid)` if it is not a text, is longer than `limit` bytes, or contains a NUL, which PostgreSQL cannot store.
    func text(_ key: String, limit: Int = RationalOwlLimits.identifierBytes) throws(AdapterError) -> String? {
        switch object[key] {
        case nil, .null: return nil
        case .string(let text), .number(let text):
            guard text.utf8.count <= limit, !text.hasByte(0) else { throw invalid(key) }
            return text.isEmpty ? nil : text
        case .bool, .array, .object: throw invalid(key)
        }
    }

    /// A required text.
    ///
    /// - Throws: `AdapterError(.missing)` if it is absent, and the errors of `text`.
    func required(_ key: String, limit: Int = RationalOwlLimits.identifierBytes) throws(AdapterError) -> String {
        guard let text = try text(key, limit: limit) else { throw missing(key) }
        return text
    }

    /// A whole number, also if it was sent as digits in a string.
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func integer(_ key: String) throws(AdapterError) -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let value = Int64(text) else { throw invalid(key) }
        return value
    }

    /// A flag: a JSON boolean, 1 or 0, or one of these as a text.
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func flag(_ key: String) throws(AdapterError) -> Bool? {
        if let flag = object[key]?.bool { return flag }
        switch try text(key) {
        case nil: return nil
        case "1", "true": return true
        case "0", "false": return false
        case .some: throw invalid(key)
        }
    }

    /// A normalised phone number.
    ///
    /// - Throws: `AdapterError(.invalid)` if it has too few or too many digits.
    func phone(_ key: String) throws(AdapterError) -> PhoneNumber? {
        guard let text = try text(key, limit: RationalOwlLimits.phoneBytes) else { return nil }
        guard let phone = PhoneNumber(text) else { throw invalid(key) }
        return phone
    }

    /// A nested object. In a form it is JSON inside the value. An empty object counts as absent.
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func fields(_ key: String) throws(AdapterError) -> RationalOwlFields? {
        guard let value = unwrapped(key) else { return nil }
        guard let inner = value.object else { throw invalid(key) }
        return inner.isEmpty ? nil : RationalOwlFields(inner, below: "\(path)\(key).")
    }

    /// A nested list. In a form it is JSON inside the value. An empty list counts as absent.
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func list(_ key: String) throws(AdapterError) -> [JSON]? {
        guard let value = unwrapped(key) else { return nil }
        guard let list = value.array else { throw invalid(key) }
        return list.isEmpty ? nil : list
    }

    /// The unchanged value; nil if it is absent, null or empty.
    func value(_ key: String) -> JSON? { unwrapped(key) }

    /// The error for a missing field.
    func missing(_ key: String) -> AdapterError { AdapterError(.missing, field: path + key) }

    /// The error for a field with an invalid value.
    func invalid(_ key: String) -> AdapterError { AdapterError(.invalid, field: path + key) }

    /// The error for a field over its limit.
    func tooMuch(_ key: String) -> AdapterError { AdapterError(.tooLarge, field: path + key) }

    private func unwrapped(_ key: String) -> JSON? {
        switch object[key] {
        case nil, .null, .string(""): nil
        case .string(let text) where text.hasPrefix("{") || text.hasPrefix("["):
            (try? JSONParser.parse(text)) ?? .string(text)
        case .some(let value): value
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
