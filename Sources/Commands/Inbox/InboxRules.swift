import Model
import Store

/// The rules for calls of devices about their messages.
enum InboxRules {
    static func plan(_ command: InboxCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .deliveryInfo(let text, let reporter): deliveryInfo(text, reporter, context)
        case .appState(let key, let isActive): appState(key, isActive: isActive, context)
        case .history(let caller, let page): HistoryRules.page(page, caller, context)
        case .message(let caller, let number): HistoryRules.message(number, caller, context)
        case .poll(let caller, let limit): HistoryRules.poll(caller, limit: limit, context)
        case .userMessage(let caller, let user, let number, let hiddenBy):
            HistoryRules.userMessage(number, caller, user, hiddenBy: hiddenBy, context)
        case .unread(let caller, let owner, let hiddenBy):
            HistoryRules.unread(caller, owner, hiddenBy: hiddenBy, context)
        }
    }

    private static func deliveryInfo(_ text: String, _ reporter: Reporter, _ context: RuleContext) -> Plan {
        guard let message = MessageID(text: text), let key = reporter.key, Storable.isKey(key.rawValue) else {
            return .refused(.unknownMessage)
        }
        // The phone in the call is only a hint: the key alone determines the access.
        let reporter = Reporter(key: key, phone: nil)
        let isWhole = context.identities.showsWholeHistory
        return Plan(FindDelivery(context.scope, message, reporter, isWhole: isWhole)) { found in
            guard let snapshot = found.snapshot else { return .refused(.unknownMessage) }
            return .inbox(.deliveryInfo(snapshot, platform: found.platform))
        }
    }

    private static func appState(_ key: VendorDeviceKey, isActive: Bool, _ context: RuleContext) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .refused(.unknownDevice) }
        let contact = NoteContact(context.scope, key: key, at: context.now)
        guard isActive else {
            return Plan(contact) { $0 > 0 ? .inbox(.undelivered([])) : .refused(.unknownDevice) }
        }
        let since = Timestamp(milliseconds: context.now.milliseconds - CommandLimits.undeliveredAge.milliseconds)
        let missed = ListUndelivered(context.scope, key: key, since: since, limit: CommandLimits.undeliveredCount)
        return Plan(contact, missed) { count, entries in
            count > 0 ? .inbox(.undelivered(entries)) : .refused(.unknownDevice)
        }
    }
}
