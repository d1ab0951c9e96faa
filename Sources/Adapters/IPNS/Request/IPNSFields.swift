import HTTPTypes
package import Model

/// The fields of one request: JSON, a form, or the query, with any spelling of their keys. Lenient about types, strict about size and characters.
///
/// An empty text counts as absent. If a field is in both the query and the body, the body's value counts.
package struct IPNSFields: Sendable {
    /// All supported fields (docs/contracts/ipns.md#2.4 to 2.11).
    package enum Key: String, Sendable, CaseIterable {
        case appID = "APP_ID"
        case deviceID = "DEVICE_ID"
        case pushToken = "PUSH_TOKEN"
        case userCN = "USER_CN"
        case pushType = "PUSH_TYPE"
        case libVer = "LIB_VER"
        case pushYN = "PUSH_YN"
        case msgID = "MSG_ID"
        case reqID = "REQ_ID"
        case startTime = "START_TIME"
        case endTime = "END_TIME"
        case cpUserID = "CP_USER_ID"
        case pushIDType = "PUSH_ID_TYPE"
        case reqType = "REQ_TYPE"
        case count = "COUNT"
        case pushID = "PUSH_ID"
        case priority = "PRIORITY"
        case sendType = "SEND_TYPE"
        case reserved = "RESV_DATE"
        case title = "TITLE"
        case alert = "ALERT"
        case message = "MESSAGE"
        case sound = "SOUND"
        case badge = "BADGE"
        case reportURL = "REPORT_URL"
        /// The gateway's own field: a token of the app's back end.
        case userToken = "USER_TOKEN"
    }

    private static let known: [String: Key] = {
        var known = Dictionary(Key.allCases.map { (folded($0.rawValue), $0) }) { first, _ in first }
        // Assumed: the misspelling in a public product related to this one (docs/contracts/ipns.md#2.11).
        known["bedge"] = .badge
        // The parameter labels of the vendor's library document: `registiPNG:UserCN:DeviceToken:`, `updateConfig:Start:End:YN:CpUserId:`, and
        // `requestID`, its other name for a message's number.
        known["devicetoken"] = .pushToken
        known["start"] = .startTime
        known["end"] = .endTime
        known["yn"] = .pushYN
        known["requestid"] = .reqID
        return known
    }()

    /// The field of a folded key; nil: unknown.
    static func key(ofFolded name: String) -> Key? { known[name] }

    /// Keys in their documented spelling, which most callers use.
    private static let spelled = Dictionary(Key.allCases.map { ($0.rawValue, $0) }) { first, _ in first }

    /// Fields that name the operation (docs/contracts/ipns.md#2.3).
    private static let operationNames: Set<String> = ["cmd", "command", "method", "reqcmd"]

    /// An array, because it has few entries and searching it is faster than hashing.
    private var entries: [(key: Key, value: JSON)] = []
    /// Whether the request has an unknown field. The set of its fields then does not determine the operation.
    private var hasStrangers = false
    /// The operation that a field names.
    private(set) var operationName: String?

    /// The fields of a request.
    ///
    /// - Parameters:
    ///   - request: the request as received.
    ///   - names: the binding's further spellings of keys, folded.
    /// - Throws: `AdapterError(.unreadable)` if the body is neither a JSON object nor a form.
    package init(_ request: VendorRequest, names: [String: Key] = [:]) throws(AdapterError) {
        if let query = request.query {
            take(try FormBody.parse(Array(query.utf8), pairLimit: IPNSLimits.formPairCount), names)
        }
        let first = request.body.first { !Self.isSpace($0) }
        guard let first else { return }
        // The first byte decides, because `curl -d` declares a form whatever it sends.
        if first == UInt8(ascii: "{") {
            guard let object = (try? JSONParser.parse(request.body))?.object else { throw AdapterError(.unreadable) }
            take(object, names)
        } else {
            let type = request.headers[.contentType]?.lowercased() ?? ""
            let isForm = type.hasPrefix("application/x-www-form-urlencoded")
            guard isForm || request.body.contains(UInt8(ascii: "=")) else { throw AdapterError(.unreadable) }
            take(try FormBody.parse(request.body, pairLimit: IPNSLimits.formPairCount), names)
        }
    }

    private mutating func take(_ object: JSONObject, _ names: [String: Key]) {
        // Nearly all fields of a call are known ones.
        entries.reserveCapacity(entries.count + min(object.count, Self.spelled.count))
        for (name, value) in object.pairs {
            if names.isEmpty, let key = Self.spelled[name] {
                put(key, value)
                continue
            }
            let name = Self.folded(name)
            if let key = names[name] ?? Self.known[name] {
                put(key, value)
            } else if Self.operationNames.contains(name) {
                operationName = value.string
            } else {
                hasStrangers = true
            }
        }
    }

    private mutating func put(_ key: Key, _ value: JSON) {
        if let place = entries.firstIndex(where: { $0.key == key }) {
            entries[place].value = value
        } else {
            entries.append((key, value))
        }
    }

    /// A key in the form used for comparison: without case, underscores and dashes, cut to the maximum length of keys.
    package static func folded(_ name: String) -> String {
        // Every documented key is ASCII, so it can be converted byte by byte.
        guard name.utf8.count <= IPNSLimits.keyCharacters, name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return String(name.prefix(IPNSLimits.keyCharacters).filter { $0 != "_" && $0 != "-" }).lowercased()
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 where byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") {
            bytes.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The fields that are present and not empty; nil if the request has an unknown field.
    var keys: Set<Key>? {
        hasStrangers ? nil : Set(entries.filter { $0.value != .null && $0.value != .string("") }.map(\.key))
    }

    /// Whether one of these fields is present, even if it is empty.
    func has(_ keys: Set<Key>) -> Bool { entries.contains { keys.contains($0.key) } }

    private func value(_ key: Key) -> JSON? { entries.first { $0.key == key }?.value }

    /// A text; nil if it is absent, null or empty.
    ///
    /// - Throws: `AdapterError(.invalid)` if it is not a text, is longer than `limit` bytes, or contains a NUL, which PostgreSQL cannot store.
    func text(_ key: Key, limit: Int = IPNSLimits.identifierBytes) throws(AdapterError) -> String? {
        switch value(key) {
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
    func required(_ key: Key, limit: Int = IPNSLimits.identifierBytes) throws(AdapterError) -> String {
        guard let text = try text(key, limit: limit) else { throw missing(key) }
        return text
    }

    /// A whole number, also if it was sent as digits in a text.
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func integer(_ key: Key) throws(AdapterError) -> Int64? {
        guard let text = try text(key) else { return nil }
        guard let value = Int64(text) else { throw invalid(key) }
        return value
    }

    /// `Y` and `N`, `true` and `false`, `1` and `0` (docs/contracts/ipns.md#2.8).
    ///
    /// - Throws: `AdapterError(.invalid)` for any other value.
    func flag(_ key: Key) throws(AdapterError) -> Bool? {
        if let flag = value(key)?.bool { return flag }
        switch try text(key)?.lowercased() {
        case nil: return nil
        case "y", "true", "1": return true
        case "n", "false", "0": return false
        case .some: throw invalid(key)
        }
    }

    /// A list of texts. A single text, or a JSON list inside a form's text, is accepted too.
    ///
    /// - Throws: `AdapterError(.missing)` if it is empty, `.invalid` for an entry that is not a text, or for too many.
    func list(_ key: Key) throws(AdapterError) -> [String] {
        var entries: [JSON]
        switch value(key) {
        case .array(let list): entries = list
        case .string(let text) where text.hasPrefix("["):
            guard let list = (try? JSONParser.parse(text))?.array else { throw invalid(key) }
            entries = list
        default: entries = try text(key).map { [.string($0)] } ?? []
        }
        guard !entries.isEmpty else { throw missing(key) }
        guard entries.count <= IPNSLimits.recipientCount else { throw invalid(key) }
        var texts: [String] = []
        for entry in entries {
            guard let text = entry.lenientString, !text.isEmpty, text.utf8.count <= IPNSLimits.identifierBytes,
                !text.hasByte(0)
            else { throw invalid(key) }
            texts.append(text)
        }
        return texts
    }

    /// Content: a text, or JSON as its text.
    ///
    /// - Throws: `AdapterError(.tooLarge)` if it is longer than `limit` bytes, `.invalid` for a NUL.
    func content(_ key: Key, limit: Int) throws(AdapterError) -> String? {
        let text: String? =
            switch value(key) {
            case nil, .null: nil
            case .string(let text), .number(let text): text
            case .some(let value): JSONWriter.text(value)
            }
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= limit else { throw AdapterError(.tooLarge, field: key.rawValue) }
        guard !text.hasByte(0) else { throw invalid(key) }
        return text
    }

    func missing(_ key: Key) -> AdapterError { AdapterError(.missing, field: key.rawValue) }
    func invalid(_ key: Key) -> AdapterError { AdapterError(.invalid, field: key.rawValue) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
