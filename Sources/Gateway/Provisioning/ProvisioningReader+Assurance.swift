import Model

// An app's `minAssurance` and `mixedAssurance`.
extension ProvisioningReader {
    /// `minAssurance: vouched`, or `minAssurance: { default: claimed, transactional: vouched }` with any lanes.
    ///
    /// - Throws: `ProvisioningProblem` that names the key.
    func assurance(_ fields: inout StrictFields) throws(ProvisioningProblem) -> AssuranceRules {
        var rules = AssuranceRules(isMixed: try fields.flag("mixedAssurance") ?? false)
        let path = "\(fields.path).minAssurance"
        guard let json = fields.value("minAssurance") else { return rules }
        guard json.object != nil else {
            rules.minimum = try level(json, path)
            return rules
        }
        var levels = try StrictFields(json, path: path)
        if let standard = levels.value("default") { rules.minimum = try level(standard, "\(path).default") }
        for lane in Lane.allCases {
            if let own = levels.value("\(lane)") { rules.lanes[lane] = try level(own, "\(path).\(lane)") }
        }
        try levels.finish()
        return rules
    }

    private func level(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> Assurance {
        guard let level = json.string.flatMap(Assurance.init), Assurance.required.contains(level) else {
            let names = Assurance.required.map(\.rawValue).joined(separator: ", ")
            throw ProvisioningProblem(path: path, problem: "must be one of \(names)")
        }
        return level
    }
}
