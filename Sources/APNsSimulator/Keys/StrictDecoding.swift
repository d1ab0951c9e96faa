/// A JSON field name that is not known in advance.
private struct FieldName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// Refuses an object with an unknown field, because such a field is a typing error of its author.
func refuseUnknownFields(in decoder: any Decoder, known: [String]) throws {
    let names = try decoder.container(keyedBy: FieldName.self).allKeys
    if let unknown = names.first(where: { !known.contains($0.stringValue) }) {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "unknown field \"\(unknown.stringValue)\"")
        )
    }
}
