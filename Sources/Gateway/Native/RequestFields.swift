import Commands
import Foundation
import Model

/// Reads the fields of a native request body; unknown keys are refused by name, so that a typo does not silently change what is sent.
struct RequestFields {
    private let object: JSONObject
    private let path: String
    private var read: Set<String> = []

    /// - Throws: `Problem` when `json` is no object.
    init(_ json: JSON, path: String = "") throws(Problem) {
        guard let object = json.object else {
            throw .badRequest(path.isEmpty ? "the body must be a JSON object" : "\(path) must be an object")
        }
        self.object = object
        self.path = path
    }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    mutating func value(_ key: String) -> JSON? {
        read.insert(key)
        guard let value = object[key], value != .null else { return nil }
        return value
    }

    /// - Throws: `Problem` when it is there and no string of at most `limit` bytes.
    mutating func text(_ key: String, limit: Int = 4 * 1024) throws(Problem) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw .invalid(name(key), "must be a string") }
        guard text.utf8.count <= limit else { throw .invalid(name(key), "at most \(limit) bytes") }
        return text
    }

    /// - Throws: `Problem` when it is absent or empty.
    mutating func requiredText(_ key: String, limit: Int = 4 * 1024) throws(Problem) -> String {
        guard let text = try text(key, limit: limit), !text.isEmpty else { throw .invalid(name(key), "is missing") }
        return text
    }

    /// - Throws: `Problem` when it is there and no integer within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw .invalid(name(key), "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// - Throws: `Problem` when it is there and no boolean.
    mutating func flag(_ key: String) throws(Problem) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.bool else { throw .invalid(name(key), "must be true or false") }
        return flag
    }

    /// - Throws: `Problem` when it is there and no list of at most `limit` non-empty strings.
    mutating func texts(_ key: String, limit: Int) throws(Problem) -> [String] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw .invalid(name(key), "must be a list of strings") }
        guard array.count <= limit else { throw .invalid(name(key), "at most \(limit) entries") }
        var out: [String] = []
        for element in array {
            guard let text = element.string, !text.isEmpty, text.utf8.count <= 256 else {
                throw .invalid(name(key), "must be a list of strings of 1 to 256 bytes")
            }
            out.append(text)
        }
        return out
    }

    /// Tags, of which an identity carries so many at most; nil: nothing was said of them.
    ///
    /// - Throws: `Problem` when it is there and no list of tags.
    mutating func tags(_ key: String) throws(Problem) -> [Tag]? {
        guard value(key) != nil else { return nil }
        var tags: [Tag] = []
        for text in try texts(key, limit: CommandLimits.tagsPerIdentity) {
            guard let tag = Tag(text) else {
                throw .invalid(
                    name(key),
                    "'\(text.prefix(40))' is no tag: 1 to \(Tag.limit) letters, digits or _ - @ # . :"
                )
            }
            tags.append(tag)
        }
        return tags
    }

    /// A moment: RFC 3339 text, or milliseconds since 1970.
    ///
    /// - Throws: `Problem` when it is there and neither.
    mutating func moment(_ key: String) throws(Problem) -> Timestamp? {
        guard let value = value(key) else { return nil }
        if let milliseconds = value.int, milliseconds >= 0 { return Timestamp(milliseconds: milliseconds) }
        if let text = value.string {
            if let date = try? Date(text, strategy: .iso8601) {
                return Timestamp(milliseconds: Int64(clamping: Int(date.timeIntervalSince1970 * 1000)))
            }
        }
        throw .invalid(name(key), "must be a time like 2026-12-25T13:30:00Z, or milliseconds since 1970")
    }

    /// When a message is due: a moment, or `{"local": …}`, a wall-clock time in each device's own zone.
    ///
    /// - Throws: `Problem` when it is there and neither.
    mutating func schedule(_ key: String) throws(Problem) -> (at: Timestamp?, local: LocalTime?) {
        guard let json = value(key), json.object != nil else { return (try moment(key), nil) }
        var fields = try RequestFields(json, path: name(key))
        let text = try fields.requiredText("local", limit: 32)
        guard let local = LocalTime(text) else {
            throw .invalid(fields.name("local"), "must be a time without a zone, like 2026-12-01T09:00:00")
        }
        try fields.finish()
        return (nil, local)
    }

    /// `timeZone` and `receivingWindow` of a device.
    ///
    /// - Throws: `Problem` when one is there and cannot be read.
    mutating func clock() throws(Problem) -> DeviceClock {
        var clock = DeviceClock()
        if let text = try text("timeZone", limit: TimeZoneName.limitBytes) {
            guard let zone = TimeZoneName(text) else {
                throw .invalid(name("timeZone"), "is no name of the IANA database like Europe/Berlin")
            }
            clock.timeZone = zone
        }
        if let json = try object("receivingWindow") {
            var fields = try RequestFields(.object(json), path: name("receivingWindow"))
            let from = try fields.requiredText("from", limit: 5)
            let to = try fields.requiredText("to", limit: 5)
            guard let window = DailyWindow(from: from, to: to) else {
                throw .invalid(name("receivingWindow"), "from and to must be times of day from 0000 to 2359")
            }
            try fields.finish()
            clock.window = window
        }
        return clock
    }

    /// - Throws: `Problem` when it is there and no object.
    mutating func object(_ key: String) throws(Problem) -> JSONObject? {
        guard let value = value(key) else { return nil }
        guard let object = value.object else { throw .invalid(name(key), "must be an object") }
        return object
    }

    /// - Throws: `Problem` that names the first unknown key.
    func finish() throws(Problem) {
        if let unknown = object.keys.first(where: { !read.contains($0) }) {
            throw .invalid(name(unknown), "is no known field")
        }
    }
}
