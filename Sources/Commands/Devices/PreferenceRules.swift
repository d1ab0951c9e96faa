import Model
import Store

/// The rules for preferences of devices.
enum PreferenceRules {
    static func plan(_ command: PreferenceCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .preferences(let caller): preferences(of: caller, context)
        case .setPreferences(let caller, let change): set(change, of: caller, context)
        }
    }

    private static func preferences(of caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        return Plan(FindPreferences(context.scope, caller)) { known in
            known.map { .preference(.preferences($0)) } ?? .refused(.unknownDevice)
        }
    }

    private static func set(_ change: PreferenceChange, of caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        let minutes = [change.windowFrom, change.windowTo].compactMap(\.self)
        guard minutes.allSatisfy((0..<1440).contains) else { return .refused(.invalid("window")) }
        if let zone = change.timeZone, !zone.isKnown { return .refused(.invalid("timeZone")) }
        if let alias = change.alias, !Storable.isKey(alias.rawValue) { return .refused(.invalid("alias")) }
        return Plan(SetPreferences(context.scope, caller, change)) { count in
            count > 0 ? .preference(.preferencesSet) : .refused(.unknownDevice)
        }
    }
}
