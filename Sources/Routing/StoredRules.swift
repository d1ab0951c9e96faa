package import Model

/// A version of an app's rules as it is stored.
package struct StoredRules: Sendable, Hashable {
    package var version: Int
    package var format: Int
    package var base: JSONObject
    package var overlay: JSONObject
    /// The facts about the upstreams that the rules name.
    package var upstreams: JSONObject

    package init(version: Int, format: Int, base: JSONObject, overlay: JSONObject, upstreams: JSONObject) {
        self.version = version
        self.format = format
        self.base = base
        self.overlay = overlay
        self.upstreams = upstreams
    }
}

extension RouteSet {
    /// Reads a stored version.
    ///
    /// - Throws: `ProvisioningProblem` for another format, and for rules that this program does not know.
    package init(_ stored: StoredRules) throws(ProvisioningProblem) {
        try self.init(
            format: stored.format,
            base: .object(stored.base),
            overlay: .object(stored.overlay),
            upstreams: .object(stored.upstreams)
        )
    }
}
