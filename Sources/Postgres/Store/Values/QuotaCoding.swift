package import Model

/// Encodes the quotas of an app in its `defaults`, where the function `quota_of` of the schema reads them.
package enum QuotaCoding {
    /// Writes the quotas that differ from the defaults of the gateway.
    package static func write(_ quotas: [Quota: Int], into defaults: inout JSONObject) {
        if quotas.isEmpty { return }
        defaults["quotas"] = .object(
            JSONObject(quotas.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .int($0.value)) })
        )
    }
}
