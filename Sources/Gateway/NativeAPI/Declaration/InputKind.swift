import AnswerShapes
import GatewayHTTP
import Model

/// Defines how the text of a path, query or header becomes the JSON value that an `InputKind` reads.
enum InputTextForm: Sendable {
    case text
    /// Digits become a number; other text stays text.
    case number
    /// `true` and `false` become a boolean.
    case flag
    /// A list, comma-separated or repeated.
    case list
}

/// The schema of one input, and the function that converts its JSON value to a Swift value or throws a problem.
struct InputKind<Value: Sendable>: Sendable {
    var schema: JSONSchema
    var form = InputTextForm.text
    /// The second argument is the name of the input in problems.
    var read: @Sendable (JSON, String) throws(Problem) -> Value

    init(
        _ schema: JSONSchema,
        form: InputTextForm = .text,
        read: @escaping @Sendable (JSON, String) throws(Problem) -> Value
    ) {
        self.schema = schema
        self.form = form
        self.read = read
    }

    /// A kind whose values are derived from this kind's values. `transform` returns nil for an unusable value; the problem then contains `fault`.
    func map<Other: Sendable>(
        _ fault: String,
        _ transform: @escaping @Sendable (Value) -> Other?
    ) -> InputKind<Other> {
        let read = read
        return InputKind<Other>(schema, form: form) { (json, name) throws(Problem) in
            guard let value = transform(try read(json, name)) else { throw .invalid(name, fault) }
            return value
        }
    }

    /// The same kind with an example in its schema.
    func example(_ value: JSON) -> InputKind {
        var copy = self
        copy.schema = schema.example(value)
        return copy
    }
}

// MARK: General kinds

extension InputKind where Value == String {
    /// A string of `minimum` to `limit` bytes.
    static func text(_ limit: Int = 4 * 1024, atLeast minimum: Int = 0, format: String? = nil) -> InputKind {
        var schema = JSONSchema.text(format: format)
        if minimum > 0 { schema.json["minLength"] = 1 }
        schema.json["maxLength"] = .int(limit)
        return InputKind(schema) { (json, name) throws(Problem) in
            guard let text = json.string else { throw .invalid(name, "must be a string") }
            guard text.utf8.count >= minimum else {
                throw .invalid(name, minimum == 1 ? "must not be empty" : "at least \(minimum) bytes")
            }
            guard text.utf8.count <= limit else { throw .invalid(name, "at most \(limit) bytes") }
            return text
        }
    }

    /// One word of a list.
    static func word(among words: [String]) -> InputKind {
        InputKind(.words(words)) { (json, name) throws(Problem) in
            guard let text = json.string, words.contains(text) else { throw .invalid(name, Self.fault(words)) }
            return text
        }
    }

    fileprivate static func fault(_ words: [String]) -> String { "must be one of \(words.joined(separator: ", "))" }
}

extension InputKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One case of an enumeration, by its name.
    static func word(_ type: Value.Type) -> InputKind { word(among: Array(Value.allCases)) }

    /// One case of a list.
    static func word(among cases: [Value]) -> InputKind {
        let words = cases.map(\.rawValue)
        return InputKind(.words(words)) { (json, name) throws(Problem) in
            guard let text = json.string, words.contains(text), let value = Value(rawValue: text) else {
                throw .invalid(name, InputKind<String>.fault(words))
            }
            return value
        }
    }
}

extension InputKind where Value == Int {
    /// An integer within `range`.
    static func integer(_ range: ClosedRange<Int>) -> InputKind {
        InputKind<Int64>.integer(Int64(range.lowerBound)...Int64(range.upperBound)).map("is out of range") { Int($0) }
    }
}

extension InputKind where Value == Int64 {
    /// An integer within `range`.
    static func integer(_ range: ClosedRange<Int64>) -> InputKind {
        InputKind(.integer(range), form: .number) { (json, name) throws(Problem) in
            guard let number = json.int, range.contains(number) else {
                throw .invalid(name, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// A position in a log: 0 or more.
    static let position = integer(0...Int64.max)
}

extension InputKind where Value == Double {
    /// A finite number.
    static let number = InputKind(.number) { (json, name) throws(Problem) in
        guard let number = json.double else { throw .invalid(name, "must be a number") }
        return number
    }
}

extension InputKind where Value == Bool {
    static let flag = InputKind(.flag, form: .flag) { (json, name) throws(Problem) in
        guard let flag = json.bool else { throw .invalid(name, "must be true or false") }
        return flag
    }
}

extension InputKind where Value == JSONObject {
    /// An object with any members.
    static let anyObject = InputKind(.anyObject) { (json, name) throws(Problem) in
        guard let object = json.object else { throw .invalid(name, "must be an object") }
        return object
    }
}

extension InputKind {
    /// A list of at most `limit` elements of a kind.
    static func list<Element: Sendable>(_ kind: InputKind<Element>, limit: Int) -> InputKind
    where Value == [Element] {
        InputKind(.list(of: kind.schema, limit: limit), form: .list) { (json, name) throws(Problem) in
            guard let array = json.array else { throw .invalid(name, "must be a list") }
            guard array.count <= limit else { throw .invalid(name, "at most \(limit) entries") }
            var values: [Element] = []
            values.reserveCapacity(array.count)
            for element in array { values.append(try kind.read(element, name)) }
            return values
        }
    }

    /// An object with declared members, and the value created from them.
    static func object<Fields: InputFields>(
        _ fields: Fields,
        _ make: @escaping @Sendable (InputValues<Fields>) throws(Problem) -> Value
    ) -> InputKind {
        let known = Set(fields.declared.map(\.name))
        return InputKind(fields.bodySchema()) { (json, name) throws(Problem) in
            guard let object = json.object else { throw .invalid(name, "must be an object") }
            if let unknown = object.keys.first(where: { !known.contains($0) }) {
                throw .invalid("\(name).\(unknown)", "is not a known field")
            }
            return try make(InputValues(fields, body: object, prefix: "\(name)."))
        }
    }
}

// MARK: Times

extension InputKind where Value == Timestamp {
    /// A moment: RFC 3339 text, or milliseconds since 1970.
    static let time = InputKind(
        .any(of: [.time, .integer(0...lastMillisecond).described("Milliseconds since 1970.")]),
        form: .number
    ) { (json, name) throws(Problem) in
        if let milliseconds = json.int, (0...lastMillisecond).contains(milliseconds) {
            return Timestamp(milliseconds: milliseconds)
        }
        if let time = json.string.flatMap({ Timestamp(rfc3339: $0) }) { return time }
        throw .invalid(name, "must be a time like 2026-12-25T13:30:00Z, or milliseconds since 1970")
    }

    /// The end of the year 9999: the last time that RFC 3339 can write.
    private static let lastMillisecond: Int64 = 253_402_300_799_999
}
