/// How much an attacker gains by a weak setting.
package enum RiskLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A small step for an attacker who already has something else.
    case low
    /// Data of single users, or a defence that is missing.
    case medium
    /// Anyone who reaches the gateway can send to all users, or reads what others send.
    case high

    package static func < (one: RiskLevel, other: RiskLevel) -> Bool {
        let order = allCases
        return order.firstIndex(of: one) ?? 0 < order.firstIndex(of: other) ?? 0
    }
}

/// The risk of some values of a setting, which `push-gateway doctor --security` names.
package struct SettingRisk: Sendable {
    package let level: RiskLevel
    /// The possible harm, in one sentence.
    package let consequence: String
    /// The change that removes the risk, in one sentence.
    package let remedy: String
    /// Whether the value has the risk; nil: the setting is absent.
    package let applies: @Sendable (JSON?) -> Bool

    package init(
        _ level: RiskLevel,
        _ consequence: String,
        remedy: String,
        when applies: @escaping @Sendable (JSON?) -> Bool
    ) {
        self.level = level
        self.consequence = consequence
        self.remedy = remedy
        self.applies = applies
    }
}
