import HTTPTypes
package import Model

/// The keys of one request (docs/contracts/rationalowl.md#3): lenient about types and extra keys, strict about presence, size and characters.
///
/// A number may come as a string and a string as a number; an empty string is an absent value; a key that nobody asks for is ignored. The body may
/// be JSON under any content type, or a form with the same keys. JSON itself is not relaxed.
package struct Fields: Sendable {
    /// What precedes a key in an error's field name: `msg.`.
    private let path: String
    private let object: JSONObject

    /// No fields at all: what is known of a body that could not be read.
    init() {
        self.init(JSONObject(), below: "")
    }

    init(_ object: JSONObject, below path: String) {
        self.object = object
        self.path = path
    }

    /// The fields of a request's body.
    ///
    /// - Throws: `AdapterError(.unreadable)` when it is neither a JSON object nor a form.
    package init(_ request: VendorRequest) throws(AdapterError) {
        let isForm = request.headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        // `curl -d` says "form" whatever it sends, so the body's first byte decides.
        let first = request.body.first { !Self.isSpace($0) }
        if isForm, first != UInt8(ascii: "{") {
            self.init(try FormBody.parse(request.body, pairLimit: RationalOwlLimits.formPairCount), below: "")
            return
        }
        guard let object = (try? JSONParser.parse(request.body))?.object else { throw AdapterError(.unreadable) }
        self.init(object, below: "")
    }

    /// Whether the key is there at all, even empty: some answers repeat exactly the keys of the request.
    func has(_ key: String) -> Bool { object[key] != nil }

    /// What an answer repeats of this field; empty when there is nothing fit to repeat. Total, because errors are answered with it too.
    func echo(_ key: String) -> String {
        guard let text = object[key]?.lenientString, text.utf8.count <= RationalOwlLimits.identifierBytes else {
            return ""
        }
        return text
    }

    /// A text, or nil when it is absent, null or empty.
    ///
    /// - Throws: `AdapterError(.invalid)` when it is no text, longer than `limit` bytes, or holds a NUL, which PostgreSQL cannot store.
    func text(_ key: String, limit: Int = RationalOwlLimits.identifierBytes) throws(AdapterError) -> String? {
        switch object[key] {
        case nil, .null: return nil
        case .string(let text), .number(let text):
            guard text.utf8.count <= limit, !text.utf8.contains(0) else { throw invalid(key) }
            return text.isEmpty ? nil : text
        case .bool, .array, .object: throw invalid(key)
        }
    }

    /// A text that must be there.
    ///
    /// - Throws: `AdapterError(.missing)` when it is not, and what `text` throws.
    func required(_ key: String, limit: Int = RationalOwlLimits.identifierBytes) throws(AdapterError) -> String {
        guard let text = try text(key, limit: limit) else { throw missing(key) }
        return text
    }

    /// A whole number, also when it came as digits in a string.
    ///
    /// - Throws: `AdapterError(.invalid)` when it is something else.
    func integer(_ key: String) throws(AdapterError) -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let value = Int64(text) else { throw invalid(key) }
        return value
    }

    /// A flag: JSON's own, or 1 and 0, or their texts.
    ///
    /// - Throws: `AdapterError(.invalid)` when it is something else.
    func flag(_ key: String) throws(AdapterError) -> Bool? {
        if let flag = object[key]?.bool { return flag }
        switch try text(key) {
        case nil: return nil
        case "1", "true": return true
        case "0", "false": return false
        case .some: throw invalid(key)
        }
    }

    /// A phone number, normalised.
    ///
    /// - Throws: `AdapterError(.invalid)` when it has too few or too many digits.
    func phone(_ key: String) throws(AdapterError) -> PhoneNumber? {
        guard let text = try text(key, limit: RationalOwlLimits.phoneBytes) else { return nil }
        guard let phone = PhoneNumber(text) else { throw invalid(key) }
        return phone
    }

    /// A nested object. In a form it is JSON inside the value. An empty object is an absent one.
    ///
    /// - Throws: `AdapterError(.invalid)` when it is something else.
    func fields(_ key: String) throws(AdapterError) -> Fields? {
        guard let value = unwrapped(key) else { return nil }
        guard let inner = value.object else { throw invalid(key) }
        return inner.isEmpty ? nil : Fields(inner, below: "\(path)\(key).")
    }

    /// A nested list. In a form it is JSON inside the value. An empty list is an absent one.
    ///
    /// - Throws: `AdapterError(.invalid)` when it is something else.
    func list(_ key: String) throws(AdapterError) -> [JSON]? {
        guard let value = unwrapped(key) else { return nil }
        guard let list = value.array else { throw invalid(key) }
        return list.isEmpty ? nil : list
    }

    /// The value as it is, or nil when it is absent, null or empty.
    func value(_ key: String) -> JSON? { unwrapped(key) }

    /// The error that names a field as missing.
    func missing(_ key: String) -> AdapterError { AdapterError(.missing, field: path + key) }

    /// The error that names a field's value as wrong.
    func invalid(_ key: String) -> AdapterError { AdapterError(.invalid, field: path + key) }

    /// The error that names a field as over its limit.
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
