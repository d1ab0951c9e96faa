package import Model

/// A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it, together with the named schemas it refers to.
package struct JSONSchema: Sendable {
    package var json: JSONObject
    /// The named schemas that `json` refers to, by name.
    package var components: [String: JSONObject]

    package init(_ json: JSONObject, components: [String: JSONObject] = [:]) {
        self.json = json
        self.components = components
    }

    /// A string with an optional format, pattern and length.
    package static func text(format: String? = nil, example: String? = nil) -> JSONSchema {
        var json: JSONObject = ["type": "string"]
        json["format"] = format.map { .string($0) }
        json["examples"] = example.map { [.string($0)] }
        return JSONSchema(json)
    }

    /// One string of a list.
    package static func words(_ words: [String]) -> JSONSchema {
        JSONSchema(["type": "string", "enum": .array(words.map { .string($0) })])
    }

    package static let flag = JSONSchema(["type": "boolean"])
    package static let number = JSONSchema(["type": "number"])
    package static let time = JSONSchema.text(format: "date-time", example: "2026-12-25T13:30:00.000Z")
    package static let uuid = JSONSchema.text(format: "uuid", example: "0198a1f0-7c00-7000-8000-000000000001")
    /// An object with any members.
    package static let anyObject = JSONSchema(["type": "object", "additionalProperties": true])
    /// Any JSON value.
    package static let anything = JSONSchema([:])

    package static func integer(_ range: ClosedRange<Int64> = Int64.min...Int64.max, example: Int64? = nil)
        -> JSONSchema
    {
        var json: JSONObject = ["type": "integer"]
        if range.lowerBound != .min { json["minimum"] = .int(range.lowerBound) }
        if range.upperBound != .max { json["maximum"] = .int(range.upperBound) }
        json["examples"] = example.map { [.int($0)] }
        return JSONSchema(json)
    }

    /// A list of at most `limit` elements.
    package static func list(of element: JSONSchema, limit: Int? = nil) -> JSONSchema {
        var json: JSONObject = ["type": "array", "items": .object(element.json)]
        json["maxItems"] = limit.map { .int($0) }
        return JSONSchema(json, components: element.components)
    }

    /// An object whose values all have one schema.
    package static func map(of value: JSONSchema) -> JSONSchema {
        JSONSchema(["type": "object", "additionalProperties": .object(value.json)], components: value.components)
    }

    /// An object with exactly these members. `isOpen`: other members are permitted as well.
    package static func object(
        _ members: [(name: String, schema: JSONSchema, isRequired: Bool)],
        isOpen: Bool = false
    ) -> JSONSchema {
        var components: [String: JSONObject] = [:]
        for member in members { components.merge(member.schema.components) { first, _ in first } }
        var json: JSONObject = [
            "type": "object",
            "properties": .object(JSONObject(members.map { ($0.name, .object($0.schema.json)) })),
        ]
        let required = members.filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { json["required"] = .array(required) }
        json["additionalProperties"] = .bool(isOpen)
        return JSONSchema(json, components: components)
    }

    /// One of several schemas.
    package static func any(of choices: [JSONSchema]) -> JSONSchema {
        var components: [String: JSONObject] = [:]
        for choice in choices { components.merge(choice.components) { first, _ in first } }
        return JSONSchema(["anyOf": .array(choices.map { .object($0.json) })], components: components)
    }

    /// A reference to this schema, which is listed under `name` in the document.
    package func named(_ name: String) -> JSONSchema {
        var components = components
        components[name] = json
        return JSONSchema(["$ref": .string(Self.componentPrefix + name)], components: components)
    }

    package static let componentPrefix = "#/components/schemas/"

    /// The schema, or null.
    package var nullable: JSONSchema {
        guard let type = json["type"]?.string else { return .any(of: [self, JSONSchema(["type": "null"])]) }
        var copy = self
        copy.json["type"] = [.string(type), "null"]
        if let words = json["enum"]?.array { copy.json["enum"] = .array(words + [.null]) }
        return copy
    }

    package func described(_ text: String?) -> JSONSchema {
        guard let text, !text.isEmpty else { return self }
        var copy = self
        copy.json["description"] = .string(text)
        return copy
    }

    /// The schema of a member that only a key with the scope `content` gets.
    package var ofContent: JSONSchema {
        let text = json["description"]?.string.map { $0 + " " } ?? ""
        var copy = described(text + "Absent for a key without the scope `content`.")
        copy.json["x-scope"] = .string(KeyScope.Action.content.rawValue)
        return copy
    }

    /// With `value` as the first example.
    package func example(_ value: JSON?) -> JSONSchema {
        guard let value else { return self }
        var copy = self
        copy.json["examples"] = [value]
        return copy
    }

    /// A value that satisfies the schema: its first example, or else a value made of the examples of its members.
    package var exampleValue: JSON { Self.exampleValue(json, components, depth: 0) }

    /// 24 levels, of which a reference is one: no declared schema is deeper, and the recursion must end for a schema that refers to itself.
    private static func exampleValue(_ json: JSONObject, _ components: [String: JSONObject], depth: Int) -> JSON {
        guard depth < 24 else { return .null }
        func inner(_ json: JSON?) -> JSON { exampleValue(json?.object ?? [:], components, depth: depth + 1) }
        if let first = json["examples"]?.array?.first { return first }
        if let first = json["enum"]?.array?.first { return first }
        if let name = json["$ref"]?.string?.dropFirst(componentPrefix.count) {
            return inner(components[String(name)].map { .object($0) })
        }
        if let first = json["anyOf"]?.array?.first { return inner(first) }
        switch json["type"]?.string ?? json["type"]?.array?.first?.string {
        case "string": return "text"
        case "integer": return json["minimum"] ?? 1
        case "number": return .number("0.5")
        case "boolean": return true
        case "array": return [inner(json["items"])]
        case "object":
            return .object(JSONObject((json["properties"]?.object?.pairs ?? []).map { ($0.key, inner($0.value)) }))
        default: return [:]
        }
    }
}
