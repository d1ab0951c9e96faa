import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Model

/// The location of an input in a request.
enum InputPlace: String, Sendable {
    case path, query, header, body
}

/// One declared input of an operation. It can only be read through `NativeCall`.
struct InputField<Value: Sendable>: DeclaredInput {
    let name: String
    let place: InputPlace
    let isRequired: Bool
    let schema: JSONSchema
    let fromText: @Sendable ([String]) -> JSON
    /// Converts the JSON value; nil when the input is absent from the request.
    let read: @Sendable (JSON?, String) throws(Problem) -> Value

    fileprivate init<Read: Sendable>(
        _ name: String,
        _ place: InputPlace,
        _ kind: InputKind<Read>,
        isRequired: Bool,
        _ description: String,
        read: @escaping @Sendable (JSON?, String) throws(Problem) -> Value
    ) {
        self.name = name
        self.place = place
        self.isRequired = isRequired
        schema = kind.schema.described(description)
        let form = kind.form
        fromText = { texts in
            let text = texts.first ?? ""
            switch form {
            case .text: return .string(text)
            case .number: return Int64(text) == nil ? .string(text) : .number(text)
            case .flag: return text == "true" ? true : text == "false" ? false : .string(text)
            case .list: return .array(texts.flatMap { $0.split(separator: ",") }.map { .string(String($0)) })
            }
        }
        self.read = read
    }
}

/// The properties of a declared input that do not depend on its type.
protocol DeclaredInput: Sendable {
    var name: String { get }
    var place: InputPlace { get }
    var isRequired: Bool { get }
    var schema: JSONSchema { get }
}

/// The inputs of an operation, or the members of an object: a type whose stored properties are `InputField`s, in the order of the document.
protocol InputFields: Sendable {
    /// Every declared field, in the order of the document.
    var declared: [any DeclaredInput] { get }
}

extension InputFields {
    var declared: [any DeclaredInput] { reflected }

    /// The fields that are stored properties. Reflection finds them, so that none is missing from the document.
    var reflected: [any DeclaredInput] {
        Mirror(reflecting: self).children.compactMap { $0.value as? any DeclaredInput }
    }

    /// The schema of the body's members. `isOpen`: other members are accepted as well.
    func bodySchema(isOpen: Bool = false) -> JSONSchema {
        .object(
            declared.filter { $0.place == .body }.map { ($0.name, $0.schema, $0.isRequired) },
            isOpen: isOpen
        )
    }
}

/// No inputs.
struct NoInput: InputFields {}

// MARK: Declaration

/// Creates the fields of one location: `BodyField.required("app", .app, "…")`.
protocol InputPlacing {
    static var place: InputPlace { get }
}

enum PathField: InputPlacing { static let place = InputPlace.path }
enum QueryField: InputPlacing { static let place = InputPlace.query }
enum HeaderField: InputPlacing { static let place = InputPlace.header }
enum BodyField: InputPlacing { static let place = InputPlace.body }

extension InputPlacing {
    /// A field that must be present.
    static func required<Value>(_ name: String, _ kind: InputKind<Value>, _ description: String) -> InputField<Value> {
        InputField(name, place, kind, isRequired: true, description) { (json, name) throws(Problem) in
            guard let json else { throw .invalid(name, "is missing") }
            return try kind.read(json, name)
        }
    }

    /// A field that is nil when it is absent or null.
    static func optional<Value>(_ name: String, _ kind: InputKind<Value>, _ description: String) -> InputField<Value?> {
        var kind = kind
        if place == .body { kind.schema = kind.schema.nullable }
        let read = kind.read
        return InputField(name, place, kind, isRequired: false, description) { (json, name) throws(Problem) in
            guard let json else { return nil }
            return try read(json, name)
        }
    }

    /// A field that has `value` when it is absent or null.
    static func optional<Value>(
        _ name: String,
        _ kind: InputKind<Value>,
        default value: Value,
        as json: JSON? = nil,
        _ description: String
    ) -> InputField<Value> {
        var kind = kind
        if place == .body { kind.schema = kind.schema.nullable }
        if let json { kind.schema.json["default"] = json }
        let read = kind.read
        return InputField(name, place, kind, isRequired: false, description) { (json, name) throws(Problem) in
            guard let json else { return value }
            return try read(json, name)
        }
    }
}

// MARK: Reading

/// The values of declared fields in one request, or in one object of its body. A field is read and checked when it is accessed.
@dynamicMemberLookup
struct InputValues<Fields: InputFields>: Sendable {
    let fields: Fields
    var path: [String: String] = [:]
    var query: [String: [String]] = [:]
    var headers = HTTPFields()
    let body: JSONObject
    /// The text before the name of a body field in problems.
    let prefix: String

    init(_ fields: Fields, body: JSONObject, prefix: String = "") {
        self.fields = fields
        self.body = body
        self.prefix = prefix
    }

    /// The texts of the declared field with this name, unchecked: all elements of a list. Empty when it is absent.
    func texts(_ name: String) -> [String] {
        guard let field = fields.declared.first(where: { $0.name == name }) else { return [] }
        func elements(_ texts: [String]) -> [String] { texts.flatMap { $0.split(separator: ",").map(String.init) } }
        return switch field.place {
        case .path: path[name].map { [$0] } ?? []
        case .query: elements(query[name] ?? [])
        case .body: body[name]?.string.map { [$0] } ?? body[name]?.array?.compactMap(\.string) ?? []
        case .header: []
        }
    }

    /// The text of the declared field with this name, unchecked; nil when it is absent or is not a text.
    func text(_ name: String) -> String? {
        guard let field = fields.declared.first(where: { $0.name == name }) else { return nil }
        return switch field.place {
        case .path: path[name]
        case .query: query[name]?.first
        case .body: body[name]?.string
        case .header: nil
        }
    }

    subscript<Value>(dynamicMember member: KeyPath<Fields, InputField<Value>>) -> Value {
        get throws(Problem) {
            let field = fields[keyPath: member]
            switch field.place {
            case .body:
                let value = body[field.name]
                return try field.read(value == .null ? nil : value, prefix + field.name)
            case .path: return try field.read(path[field.name].map { field.fromText([$0]) }, field.name)
            case .query: return try field.read(query[field.name].map(field.fromText), field.name)
            case .header:
                let value = HTTPField.Name(field.name).flatMap { headers[$0] }
                return try field.read(value.map { field.fromText([$0]) }, field.name)
            }
        }
    }
}
