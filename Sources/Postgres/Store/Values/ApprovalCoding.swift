package import Model

/// Encodes in an app's `defaults` above how many recipients a message needs an approval.
package enum ApprovalCoding {
    private static let key = "approvalAbove"

    /// Writes `limit` into `defaults`, whose other members stay. Nil: no message needs an approval.
    package static func write(_ limit: Int?, into defaults: inout JSONObject) {
        if let limit { defaults[key] = .int(Int64(limit)) }
    }

    /// Reads the limit from `defaults`. Nil: no message needs an approval.
    package static func read(_ defaults: JSONObject) -> Int? { defaults[key]?.int.map { Int(clamping: $0) } }
}
