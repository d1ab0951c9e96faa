package import Model

extension RouteSet {
    /// Reads a stored version.
    ///
    /// - Parameters:
    ///   - format: the format in which it was written.
    ///   - base: the rules of the file.
    ///   - overlay: the rules in front of them.
    ///   - upstreams: the facts about the upstreams, by name.
    /// - Throws: `ProvisioningProblem` for another format, and for rules that this program does not know.
    package init(format: Int, base: JSON, overlay: JSON, upstreams: JSON) throws(ProvisioningProblem) {
        guard format == Self.format else {
            throw ProvisioningProblem(path: "format", problem: "the rules have the format \(format) of a newer version")
        }
        let base = try RouteReader.read(base, path: "base")
        let overlay = try RouteReader.read(overlay, path: "overlay")
        var facts: [CredentialID: UpstreamFacts] = [:]
        for (id, value) in upstreams.object?.pairs ?? [] {
            facts[CredentialID(id)] = try UpstreamFacts(value, path: "upstreams.\(id)")
        }
        self.init(base: base, overlay: overlay, upstreams: facts)
    }

    /// The stored form of the facts about the upstreams.
    package var upstreamsJSON: JSONObject {
        JSONObject(upstreams.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value.json) })
    }
}

extension UpstreamFacts {
    /// The stored form.
    package var json: JSON {
        [
            "vendor": .string(vendor.rawValue), "addressesUsers": .bool(addressesUsers),
            "splitsPlatforms": .bool(splitsPlatforms),
        ]
    }

    fileprivate init(_ json: JSON, path: String) throws(ProvisioningProblem) {
        var fields = try StrictFields(json, path: path)
        self.init(
            vendor: Vendor(try fields.text("vendor")),
            addressesUsers: try fields.flag("addressesUsers") ?? false,
            splitsPlatforms: try fields.flag("splitsPlatforms") ?? false
        )
        try fields.finish()
    }
}
