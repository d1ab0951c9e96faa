import Model

/// The settings that determine the durability of a figure, by name, and the role of the gateways.
struct BenchSettings: Sendable {
    let values: [(String, String)]

    var json: JSON { .object(JSONObject(values.map { ($0.0, .string($0.1)) })) }
    var text: String { values.map { "\($0.0) = \($0.1)" }.joined(separator: ", ") }
}
