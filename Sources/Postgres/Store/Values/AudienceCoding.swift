package import Model
import PostgresClient

/// Encodes the audience of a message as the JSON of its row, which `gateway.next_candidates` and `gateway.meant` read.
package enum AudienceCoding {
    /// The JSON of `audience`. Nil when the row needs none: the targets are in the slices, or the message is for everyone.
    package static func encode(_ audience: Audience) -> JSON? {
        switch audience {
        case .listed, .everyone: nil
        case .users(let users): ["users": .array(users.map { .string($0.rawValue) })]
        case .groups(let groups): ["groups": .array(groups.map { .string($0.rawValue) })]
        // An expression without terms was refused before. Here it matches nobody.
        case .tags(let expression): encode(TagTerms(expression))
        }
    }

    private static func encode(_ terms: TagTerms?) -> JSON {
        [
            "tags": .array((terms?.tags ?? []).map { .string($0.text) }),
            "cares": .array((terms?.terms ?? []).map { .int(Int64(clamping: $0.cares)) }),
            "wants": .array((terms?.terms ?? []).map { .int(Int64(clamping: $0.wants)) }),
            "anchors": terms.map { $0.anchors.map { .array($0.map { .string($0.text) }) } ?? .null } ?? [],
        ]
    }
}
