import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Model
import Observability

/// The native API's description, served at `/openapi.json`: OpenAPI 3.1, generated from the declared operations.
enum OpenAPIDocument {
    static let json: JSON = make(NativeOperations.all)

    static func make(_ operations: [NativeOperation]) -> JSON {
        var schemas = ["Problem": problemSchema]
        var paths = JSONObject()
        for operation in operations {
            var entry = paths[operation.path]?.object ?? JSONObject()
            entry[operation.method.rawValue.lowercased()] = json(operation)
            paths[operation.path] = .object(entry)
            for schema in operation.schemas { schemas.merge(schema.components) { first, _ in first } }
        }
        let tags = Set(operations.map(tag)).sorted()
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "push-gateway", "version": .string(GatewayVersion.text),
                "summary": "Sends push notifications and reports their outcomes.",
            ],
            "servers": [["url": "/"]],
            "tags": .array(tags.map { ["name": .string($0)] }),
            "paths": .object(paths),
            "components": [
                "schemas": .object(JSONObject(schemas.sorted { $0.key < $1.key }.map { ($0.key, .object($0.value)) })),
                "securitySchemes": [
                    "bearer": [
                        "type": "http", "scheme": "bearer",
                        "description": "A key of `push-gateway key create`. Each operation names the scope it needs.",
                    ]
                ],
            ],
        ]
    }

    private static func json(_ operation: NativeOperation) -> JSON {
        var json: JSONObject = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "description": .string(operation.scope.map { "Needs the scope `\($0.rawValue)`." } ?? "Needs no key."),
            "tags": [.string(tag(operation))], "x-audited": .bool(operation.audited != .no),
        ]
        json["security"] = operation.scope == nil ? [] : [["bearer": []]]
        json["x-scope"] = operation.scope.map { .string($0.rawValue) }
        json["parameters"] = .array(operation.inputs.filter { $0.place != .body && !isReserved($0) }.map(parameter))
        json["requestBody"] = requestBody(operation)
        json["responses"] = responses(operation)
        return .object(json)
    }

    /// OpenAPI describes these headers elsewhere and ignores parameters with their names.
    private static func isReserved(_ input: any DeclaredInput) -> Bool {
        input.place == .header && ["accept", "content-type", "authorization"].contains(input.name.lowercased())
    }

    private static func tag(_ operation: NativeOperation) -> String {
        let segments = operation.path.split(separator: "/").dropFirst().filter { !$0.hasPrefix("{") }
        let first = segments.first.map(String.init) ?? ""
        return first == "apps" ? segments.dropFirst().first.map(String.init) ?? first : first
    }

    private static func parameter(_ input: any DeclaredInput) -> JSON {
        var schema = input.schema.json
        var json: JSONObject = ["name": .string(input.name), "in": .string(input.place.rawValue)]
        json["description"] = schema["description"]
        schema["description"] = nil
        json["required"] = .bool(input.isRequired)
        if schema["type"] == "array" {
            json["style"] = "form"
            json["explode"] = false
        }
        json["schema"] = .object(schema)
        json["example"] = input.schema.exampleValue
        return .object(json)
    }

    private static func requestBody(_ operation: NativeOperation) -> JSON? {
        var content = JSONObject()
        switch operation.body {
        case .none: return nil
        case .json:
            content["application/json"] = [
                "schema": .object(operation.bodySchema?.json ?? [:]), "example": operation.example ?? [:],
            ]
        case .bytes(let type): content[type] = [:]
        case .stream(let types): for type in types { content[type] = [:] }
        }
        return ["required": true, "content": .object(content)]
    }

    // MARK: Responses

    private static func responses(_ operation: NativeOperation) -> JSON {
        var responses = JSONObject()
        for answer in operation.answers { responses["\(answer.status)"] = response(answer) }
        let byStatus = Dictionary(grouping: operation.problems, by: \.status)
        for (status, codes) in byStatus.sorted(by: { $0.key < $1.key }) { responses["\(status)"] = response(codes) }
        return .object(responses)
    }

    private static func response(_ answer: DeclaredAnswer) -> JSON {
        var json: JSONObject = ["description": .string(answer.description)]
        if !answer.headers.isEmpty {
            json["headers"] = .object(
                JSONObject(
                    answer.headers.map { header in
                        (
                            header.name,
                            [
                                "description": .string(header.description), "required": true,
                                "schema": .object(header.schema.json),
                            ]
                        )
                    }
                )
            )
        }
        if let type = answer.type {
            var content: JSONObject = ["schema": .object(answer.schema.json)]
            content["example"] = answer.example
            var types: JSONObject = [type: .object(content)]
            if let example = answer.csvExample {
                types["text/csv"] = ["schema": .object(JSONSchema.text().json), "example": .string(example)]
            }
            json["content"] = .object(types)
        }
        return .object(json)
    }

    private static func response(_ codes: [ProblemCode]) -> JSON {
        let meanings = codes.map { "\($0.rawValue): \($0.entry.meaning)" }
        var json: JSONObject = [
            "description": .string(meanings.joined(separator: "; ")),
            "x-problem-codes": .array(codes.map { .string($0.rawValue) }),
        ]
        let first = codes.first ?? .badRequest
        json["content"] = [
            "application/problem+json": [
                "schema": .object(["$ref": .string(JSONSchema.componentPrefix + "Problem")]),
                "example": [
                    "type": .string(Problem.type(first)), "title": .string(first.entry.title),
                    "status": .int(first.status), "code": .string(first.rawValue),
                    "detail": .string(first.entry.advice), "requestId": "0199b2f0-6a3c-7c1e-9d64-2f1f6d0c8a11",
                ],
            ]
        ]
        return .object(json)
    }

    /// RFC 9457, §3.1, with additional members. An import that ended early adds `import`.
    private static let problemSchema: JSONObject = {
        var schema = JSONSchema.object(
            [
                ("type", .text(format: "uri"), true),
                ("title", JSONSchema.text().described("The same for every problem with this code."), true),
                ("status", .integer(400...599), true),
                (
                    "code",
                    .words(ProblemCode.allCases.map(\.rawValue)).described("Stable; docs/errors.md explains each."),
                    true
                ),
                ("detail", JSONSchema.text().described("The error in this request."), true),
                (
                    "requestId",
                    JSONSchema.text().described("The call's identifier, as in `X-Request-Id`. Log lines contain it."),
                    false
                ),
                ("retryAfter", JSONSchema.integer(0...Int64.max).described("Seconds, as in `Retry-After`."), false),
            ],
            isOpen: true
        )
        schema.json["description"] = "Problem details (RFC 9457)."
        return schema.json
    }()
}

extension NativeOperation {
    /// Every schema of the operation.
    fileprivate var schemas: [JSONSchema] {
        inputs.map(\.schema) + answers.map(\.schema) + (bodySchema.map { [$0] } ?? [])
    }
}
