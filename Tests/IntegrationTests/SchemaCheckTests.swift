import Model
import Testing

@testable import NativeHTTP

/// The check of answers against the API's document, and the document's own examples.
@Suite struct SchemaCheckTests {
    private static let document: JSON = [
        "components": [
            "schemas": [
                "Person": [
                    "type": "object", "required": ["name"], "additionalProperties": false,
                    "properties": [
                        "name": ["type": "string", "minLength": 1, "maxLength": 3],
                        "age": [
                            "type": ["integer", "null"], "minimum": 0, "maximum": 150, "description": "In years.",
                        ],
                        "since": ["type": "string", "format": "date-time"],
                        "mood": ["type": "string", "enum": ["well", "ill"]],
                        "children": [
                            "type": "array", "maxItems": 2, "items": ["$ref": "#/components/schemas/Person"],
                        ],
                        "marks": ["type": "object", "additionalProperties": ["type": "number"]],
                    ],
                ]
            ]
        ]
    ]

    private func faults(_ text: String) throws -> [String] {
        let schema: JSON = ["anyOf": [["$ref": "#/components/schemas/Person"], ["type": "null"]]]
        return SchemaCheck(document: Self.document).faults(try JSONParser.parse(text), schema)
    }

    @Test(arguments: [
        "null", #"{"name":"Kim"}"#, #"{"name":"Kim","age":null}"#, #"{"name":"K","age":150}"#,
        #"{"name":"Kim","since":"2026-12-25T13:30:00.000Z","mood":"ill"}"#,
        #"{"name":"Kim","children":[{"name":"A"},{"name":"B","children":[]}],"marks":{"a":1,"b":0.5}}"#,
    ])
    func valuesOfTheSchemaHaveNoFaults(_ text: String) throws {
        #expect(try faults(text) == [])
    }

    @Test(arguments: [
        "1", "{}", #"{"name":1}"#, #"{"name":""}"#, #"{"name":"Long"}"#, #"{"name":"Kim","other":1}"#,
        #"{"name":"Kim","age":0.5}"#, #"{"name":"Kim","age":-1}"#, #"{"name":"Kim","age":151}"#,
        #"{"name":"Kim","since":"yesterday"}"#, #"{"name":"Kim","mood":"bad"}"#,
        #"{"name":"Kim","children":[{"name":"A"},{"age":3}]}"#,
        #"{"name":"Kim","children":[{"name":"A"},{"name":"B"},{"name":"C"}]}"#, #"{"name":"Kim","marks":{"a":"1"}}"#,
    ])
    func otherValuesHaveFaults(_ text: String) throws {
        #expect(try faults(text) != [])
    }

    @Test func anUnknownKeywordIsAFault() {
        #expect(SchemaCheck(document: Self.document).faults("a", ["pattern": "b"]) == ["$: unknown keyword pattern"])
    }

    // Each keyword of the document is known, and each operation has a schema and an example for each answer with a body.
    @Test func everyExampleOfTheDocumentIsValid() throws {
        let document = OpenAPIDocument.json
        let check = SchemaCheck(document: document)
        var count = 0
        for (path, item) in try #require(document["paths"]?.object).pairs {
            for (method, operation) in item.object?.pairs ?? [] {
                let responses = operation["responses"]?.object?.pairs ?? []
                #expect(responses.contains { $0.key < "300" }, "\(method) \(path) declares no success")
                for (status, response) in responses {
                    let hasBody = response["content"] != nil
                    #expect(hasBody == (status != "204"), "\(method) \(path) \(status) has no schema")
                    for (type, media) in response["content"]?.object?.pairs ?? [] {
                        let place = "\(method) \(path) \(status) \(type)"
                        let schema = try #require(media["schema"], "\(place) has no schema")
                        #expect(schema != [:], "\(place) has an empty schema")
                        let example = try #require(media["example"], "\(place) has no example")
                        let faults = check.faults(example, schema)
                        #expect(faults == [], "\(place)")
                        count += 1
                    }
                }
            }
        }
        #expect(count > NativeOperations.all.count)
    }
}
