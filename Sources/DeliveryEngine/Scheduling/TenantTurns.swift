package import Model

/// Lets tenants come in turn: each look at a lane begins after the tenant that was served last.
package struct TenantTurns: Sendable {
    private var last: [Lane: TenantID] = [:]

    package init() {}

    /// `tenants`, each once, in the order in which they are to be served now.
    package func order(_ tenants: [TenantID], in lane: Lane) -> [TenantID] {
        let sorted = Set(tenants).sorted()
        guard let last = last[lane], let first = sorted.firstIndex(where: { $0 > last }) else { return sorted }
        return Array(sorted[first...] + sorted[..<first])
    }

    package mutating func served(_ tenant: TenantID, in lane: Lane) { last[lane] = tenant }
}
