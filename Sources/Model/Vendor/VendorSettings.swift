/// One setting of a vendor's bindings: its name, what it does, and which values it accepts.
package struct VendorSetting: Sendable {
    /// A dotted path: `push.ttlHours` is `ttlHours` in the mapping `push`, or a key that contains a dot.
    package let name: String
    /// Its effect and the accepted values, in one sentence.
    package let summary: String
    /// The default, in the form of a file. Nil: the summary describes the default.
    package let standard: String?
    /// The risk of some values. Nil: no value has one.
    package private(set) var risk: SettingRisk?
    /// The documented calls that the default refuses or answers with less, for `apply`'s warning about bindings that do not state the setting. Nil: none.
    package private(set) var refusedCalls: String?
    private let fault: @Sendable (_ name: String, _ value: JSON) -> String?

    /// A setting whose wrong values are reported as "not an accepted value".
    package init(
        _ name: String,
        default standard: String? = nil,
        _ summary: String,
        accepts: @escaping @Sendable (JSON) -> Bool
    ) {
        self.init(name, default: standard, summary) { name, value in
            accepts(value) ? nil : "\(name): not an accepted value"
        }
    }

    /// A setting that describes a wrong value itself, in a sentence that begins with the name.
    package init(
        _ name: String,
        default standard: String? = nil,
        _ summary: String,
        problem: @escaping @Sendable (_ name: String, _ value: JSON) -> String?
    ) {
        self.name = name
        self.summary = summary
        self.standard = standard
        fault = problem
    }

    /// The setting with the risk of some of its values; without `when`, of the value true.
    package func risky(
        _ level: RiskLevel,
        _ consequence: String,
        remedy: String,
        when applies: @escaping @Sendable (JSON?) -> Bool = { $0?.bool ?? false }
    ) -> VendorSetting {
        var setting = self
        setting.risk = SettingRisk(level, consequence, remedy: remedy, when: applies)
        return setting
    }

    /// The setting with the documented calls that its default refuses or answers with less.
    package func refusing(_ calls: String) -> VendorSetting {
        var setting = self
        setting.refusedCalls = calls
        return setting
    }

    /// The error in `value`. Nil: the value is accepted.
    package func problem(in value: JSON) -> String? { fault(name, value) }
}

/// All settings of one vendor's bindings.
package struct VendorSettings: Sendable {
    /// In the order in which they are listed.
    package let all: [VendorSetting]
    private let byName: [String: VendorSetting]

    package init(_ all: [VendorSetting]) {
        self.all = all
        byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The errors in `values`, one sentence each. Empty: they can be used.
    package func problems(in values: JSONObject) -> [String] {
        leaves(of: values, below: "").compactMap { name, value in
            guard let setting = byName[name] else { return "\(name): unknown setting" }
            return setting.problem(in: value)
        }
    }

    /// The settings whose value, or whose absence, has a risk, with the value.
    package func risks(in values: JSONObject) -> [(setting: VendorSetting, risk: SettingRisk, value: JSON?)] {
        let given = Dictionary(leaves(of: values, below: "")) { first, _ in first }
        return all.compactMap { setting in
            guard let risk = setting.risk, risk.applies(given[setting.name]) else { return nil }
            return (setting, risk, given[setting.name])
        }
    }

    /// The settings that refuse calls by default and that `values` does not state.
    package func unstated(in values: JSONObject) -> [(setting: VendorSetting, calls: String)] {
        let given = Set(leaves(of: values, below: "").map(\.0))
        return all.compactMap { setting in
            guard let calls = setting.refusedCalls, !given.contains(setting.name) else { return nil }
            return (setting, calls)
        }
    }

    /// The values at dotted paths, regardless of their nesting.
    private func leaves(of object: JSONObject, below path: String) -> [(String, JSON)] {
        object.pairs.flatMap { key, value -> [(String, JSON)] in
            let name = path + key
            if byName[name] == nil, case .object(let inner) = value,
                all.contains(where: { $0.name.hasPrefix(name + ".") })
            {
                return leaves(of: inner, below: name + ".")
            }
            return [(name, value)]
        }
    }
}
