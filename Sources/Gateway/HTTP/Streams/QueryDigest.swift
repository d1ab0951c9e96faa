package import Model

/// The part of a cursor that names its query, so that the cursor continues no other one.
package enum QueryDigest {
    /// 16 hexadecimal digits: enough to notice a mistake.
    private static let count = 16

    /// The digest of a query's properties, in their order.
    package static func text(_ properties: [String?], _ identifiers: any IdentifierSource) -> String {
        let json = JSON.array(properties.map { $0.map { .string($0) } ?? .null })
        return String(identifiers.sha256(JSONWriter.bytes(json)).prefix(count))
    }
}
