import Foundation
import Model

/// Checks JSON values against schemas of the API's document. It knows the keywords that the document uses, and reports every other one.
struct SchemaCheck: Sendable {
    private let schemas: JSONObject

    private static let prefix = "#/components/schemas/"
    /// Keywords that do not restrict a value.
    private static let annotations: Set<String> = ["description", "examples", "default", "title", "x-scope"]

    init(document: JSON) { schemas = document["components"]?["schemas"]?.object ?? [:] }

    /// The reasons why a value does not satisfy a schema; none if it does.
    func faults(_ value: JSON, _ schema: JSON, at place: String = "$") -> [String] {
        guard let rules = schema.object else { return schema == true ? [] : ["\(place) is not declared"] }
        return rules.pairs.flatMap { keyword, rule -> [String] in
            switch keyword {
            case "$ref":
                guard let name = rule.string, name.hasPrefix(Self.prefix),
                    let target = schemas[String(name.dropFirst(Self.prefix.count))]
                else { return ["\(place): the schema \(JSONWriter.text(rule)) is missing"] }
                return faults(value, target, at: place)
            case "anyOf":
                let choices = (rule.array ?? []).map { faults(value, $0, at: place) }
                return choices.contains { $0.isEmpty } ? [] : choices.flatMap(\.self)
            case "type":
                return Self.types(rule).contains { Self.isOf(value, $0) } ? [] : [Self.wrong(value, rules, place)]
            case "enum": return rule.array?.contains(value) == true ? [] : [Self.wrong(value, rules, place)]
            case "properties", "required", "additionalProperties": return members(value, keyword, rule, rules, place)
            case "items":
                return (value.array ?? []).enumerated().flatMap { faults($1, rule, at: "\(place)[\($0)]") }
            case "maxItems", "minimum", "maximum", "minLength", "maxLength":
                return Self.isWithin(value, keyword, rule) ? [] : [Self.wrong(value, rules, place)]
            case "format": return Self.hasFormat(value, rule) ? [] : [Self.wrong(value, rules, place)]
            default: return Self.annotations.contains(keyword) ? [] : ["\(place): unknown keyword \(keyword)"]
            }
        }
    }

    private static func wrong(_ value: JSON, _ rules: JSONObject, _ place: String) -> String {
        "\(place): \(JSONWriter.text(value).prefix(100)) is not \(JSONWriter.text(.object(rules)).prefix(200))"
    }

    private func members(
        _ value: JSON,
        _ keyword: String,
        _ rule: JSON,
        _ rules: JSONObject,
        _ place: String
    ) -> [String] {
        guard let object = value.object else { return [] }
        switch keyword {
        case "required":
            let missing = (rule.array ?? []).compactMap(\.string).filter { object[$0] == nil }
            return missing.map { "\(place).\($0) is missing" }
        case "properties":
            return object.pairs.flatMap { name, member in
                rule[name].map { faults(member, $0, at: "\(place).\(name)") } ?? []
            }
        default:
            let others = object.pairs.filter { rules["properties"]?[$0.key] == nil }
            return others.flatMap { faults($0.value, rule, at: "\(place).\($0.key)") }
        }
    }

    private static func types(_ rule: JSON) -> [String] { rule.array?.compactMap(\.string) ?? [rule.string ?? ""] }

    private static func isOf(_ value: JSON, _ type: String) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .number(let text): type == "number" || type == "integer" && text.wholeMatch(of: /-?[0-9]+/) != nil
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }

    /// True for values of another type than the keyword is about.
    private static func isWithin(_ value: JSON, _ keyword: String, _ rule: JSON) -> Bool {
        guard let limit = rule.double else { return false }
        switch keyword {
        case "minimum": return value.double.map { $0 >= limit } ?? true
        case "maximum": return value.double.map { $0 <= limit } ?? true
        case "maxItems": return value.array.map { Double($0.count) <= limit } ?? true
        case "minLength": return value.string.map { Double($0.unicodeScalars.count) >= limit } ?? true
        default: return value.string.map { Double($0.unicodeScalars.count) <= limit } ?? true
        }
    }

    private static func hasFormat(_ value: JSON, _ rule: JSON) -> Bool {
        guard let text = value.string else { return true }
        switch rule.string {
        case "date-time":
            let time = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})/
            return text.wholeMatch(of: time) != nil
        case "date": return text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
        case "uuid": return UUID(uuidString: text) != nil
        default: return true
        }
    }
}
