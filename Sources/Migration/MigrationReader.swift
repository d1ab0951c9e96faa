package import Model
package import Routing

/// Reads the file of a migration, and reports a mistake with its place. It checks the form only; `MigrationCheck` finds what the steps mean.
package enum MigrationReader {
    /// - Parameters:
    ///   - json: `migration` and `steps`.
    ///   - unit: that of rollouts for which the file states none.
    /// - Returns: the plan.
    /// - Throws: `ProvisioningProblem` that names the key.
    package static func read(
        _ json: JSON,
        defaultUnit unit: Rollout.Unit
    ) throws(ProvisioningProblem) -> MigrationPlan {
        var fields = try StrictFields(json, path: "")
        var head = try StrictFields(fields.value("migration"), path: "migration")
        var plan = MigrationPlan(
            id: try head.text("id"),
            app: AppID(try head.text("app")),
            upstream: CredentialID(try head.text("from")),
            unit: try word(&head, "by") ?? unit,
            steps: []
        )
        plan.onFailure = try word(&head, "onGateFailure") ?? .hold
        plan.advance = try word(&head, "advance") ?? .manual
        let platforms = try head.list("platforms").map(\.value)
        guard platforms.isEmpty || platforms == ["ios"] else {
            throw ProvisioningProblem(path: "migration.platforms", problem: "may only be [ios]")
        }
        plan.isOnlyIOS = !platforms.isEmpty
        try head.finish()
        for (path, value) in try fields.list("steps") { plan.steps.append(try step(value, path)) }
        try fields.finish()
        return plan
    }

    private static func step(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> MigrationStep {
        var fields = try StrictFields(json, path: path)
        let percent = fields.value("percent")
        let stage: MigrationStage
        switch (try fields.text("stage"), percent) {
        case ("observe", nil): stage = .observe
        case ("serve", nil): stage = .serve
        case ("hold", nil): stage = .hold
        case ("complete", nil): stage = .complete
        case ("rollout", let percent?):
            guard let hundredths = hundredths(percent) else {
                throw ProvisioningProblem(
                    path: "\(path).percent",
                    problem: "must be a number from 0 to 100 with at most two decimals"
                )
            }
            stage = .rollout(hundredths)
        case ("rollout", nil): throw ProvisioningProblem(path: "\(path).percent", problem: "is missing")
        case ("observe", _), ("serve", _), ("hold", _), ("complete", _):
            throw ProvisioningProblem(path: "\(path).percent", problem: "belongs to the stage rollout")
        default:
            throw ProvisioningProblem(
                path: "\(path).stage",
                problem: "must be one of observe, serve, rollout, hold, complete"
            )
        }
        var step = MigrationStep(stage)
        if let text = try fields.optionalText("for") {
            guard let duration = duration(text) else {
                throw ProvisioningProblem(path: "\(path).for", problem: "must be a time like 60s, 30m, 12h or 2d")
            }
            step.duration = duration
        }
        for (name, path, value) in try fields.pairs("gates") {
            guard let metric = MigrationMetric(rawValue: name) else {
                let known = MigrationMetric.allCases.map(\.rawValue).joined(separator: ", ")
                throw ProvisioningProblem(path: path, problem: "must be one of \(known)")
            }
            if value == "none" {
                step.waived.insert(metric)
            } else {
                step.gates.append(try gate(metric, value, path))
            }
        }
        try fields.finish()
        return step
    }

    /// `">= 0.999"`, or `{ limit: ">= 0.999", samples: 5000 }`.
    private static func gate(
        _ metric: MigrationMetric,
        _ json: JSON,
        _ path: String
    ) throws(ProvisioningProblem) -> MigrationGate {
        var text = json.string
        var samples: Int?
        if json.object != nil {
            var fields = try StrictFields(json, path: path)
            text = try fields.text("limit")
            samples = try fields.count("samples")
            try fields.finish()
        }
        let sign = metric.wantsMore ? ">=" : "<="
        guard let text, text.hasPrefix(sign), let limit = number(String(text.dropFirst(2)), metric) else {
            let example = metric.isShare ? "\(sign) 0.99 or \(sign) 99%" : "\(sign) 60"
            throw ProvisioningProblem(path: path, problem: "must be a limit like \(example), or none")
        }
        return MigrationGate(metric, limit, samples: samples)
    }

    /// A limit: `0.999`, `0.5%` of a share, `60s` of a time.
    private static func number(_ text: String, _ metric: MigrationMetric) -> Double? {
        let digits = text.filter { $0 != " " }
        if metric.isShare, digits.hasSuffix("%") { return plain(digits.dropLast()).map { $0 / 100 } }
        if metric == .p99 || metric == .backlog, let duration = duration(digits) { return duration / .seconds(1) }
        return plain(digits[...])
    }

    /// A number without a sign and an exponent.
    private static func plain(_ text: Substring) -> Double? {
        guard !text.isEmpty, text.utf8.count <= 16,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text)
    }

    private static func duration(_ text: String) -> Duration? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let last = text.last, let unit = units[last], text.utf8.count <= 8,
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(text.dropLast())
        else { return nil }
        return .seconds(count * unit)
    }

    private static func hundredths(_ json: JSON) -> Int? {
        guard case .number(let text) = json, let value = plain(text[...]), value <= 100 else { return nil }
        let hundredths = (value * 100).rounded()
        return abs(value * 100 - hundredths) < 1e-6 ? Int(hundredths) : nil
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ fields: inout StrictFields,
        _ key: String
    ) throws(ProvisioningProblem) -> Word? where Word.RawValue == String {
        guard let text = try fields.optionalText(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ProvisioningProblem(path: "\(fields.path).\(key)", problem: "must be one of \(known)")
        }
        return word
    }
}
