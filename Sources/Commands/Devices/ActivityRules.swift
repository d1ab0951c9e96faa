import Model
import Store

/// Tokens of Live Activities, which a device reports in addition to its own.
enum ActivityRules {
    static func plan(_ command: ActivityCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .report(let device, let activity, let token): report(device, activity, token, context)
        case .tokens(let device):
            Plan(ListActivityTokens(device)) { .registration(.activity(.tokens($0))) }
        case .devices(let name):
            // One more than the limit of a listed audience, to detect a larger number.
            Plan(FindActivityDevices(context.scope, running: name, limit: Audience.listedLimit + 1)) {
                .registration(.activity(.devices($0)))
            }
        }
    }

    private static func report(
        _ device: DeviceID,
        _ activity: ActivityReference,
        _ token: DeviceToken?,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(activity.name) else { return .refused(.invalid("activity")) }
        guard let token else {
            return Plan(RemoveActivityToken(device, activity)) { _ in .registration(.activity(.reported)) }
        }
        let limit = CommandLimits.activityTokens
        return Plan(PutActivityToken(device, activity, token, at: context.now, limit: limit)) { isStored in
            isStored ? .registration(.activity(.reported)) : .refused(.tooMany("token", limit: limit))
        }
    }
}
