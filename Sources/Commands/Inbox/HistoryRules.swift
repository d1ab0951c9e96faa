import Model
import Store

/// The rules for listing the messages of a device. The caller must be registered, and may see only what its own registration allows.
enum HistoryRules {
    static func page(_ page: HistoryPage, _ caller: DeviceCaller, _ context: RuleContext) -> Plan {
        // A caller identified only by a user name may only look; nothing is counted as received.
        guard page.look == nil ? caller.isDevice : caller.isStorable else { return .refused(.unknownDevice) }
        guard page.before.map(Storable.isKey) ?? true else { return .refused(.invalid("before")) }
        guard isStorable(page.owner) else { return .refused(.unknownDevice) }
        var page = page
        page.count = min(max(page.count, 1), HistoryPage.limit)
        return Plan(
            FindPreferences(context.scope, caller),
            ListHistory(context.scope, caller, page, at: context.now, isWhole: context.identities.showsWholeHistory)
        ) { [owner = page.owner] known, entries in
            refused(known, owner) ?? .inbox(.history(entries))
        }
    }

    static func userMessage(
        _ number: String,
        _ caller: DeviceCaller,
        _ user: UserID,
        hiddenBy: String?,
        _ context: RuleContext
    ) -> Plan {
        guard caller.isStorable, isStorable(.user(user)) else { return .refused(.unknownDevice) }
        guard Storable.isKey(number) else { return .refused(.unknownMessage) }
        return Plan(
            FindPreferences(context.scope, caller),
            FindUserMessage(
                context.scope,
                caller,
                user,
                number: number,
                hiddenBy: hiddenBy,
                isWhole: context.identities.showsWholeHistory
            )
        ) { known, entry in
            if let refused = refused(known, .user(user)) { return refused }
            return entry.map { .inbox(.message($0)) } ?? .refused(.unknownMessage)
        }
    }

    static func unread(
        _ caller: DeviceCaller,
        _ owner: HistoryPage.Owner,
        hiddenBy: String?,
        _ context: RuleContext
    ) -> Plan {
        guard caller.isStorable, isStorable(owner) else { return .refused(.unknownDevice) }
        let (limit, now) = (HistoryPage.lookLimit, context.now)
        return Plan(
            FindPreferences(context.scope, caller),
            CountUnread(
                context.scope,
                caller,
                owner,
                hiddenBy: hiddenBy,
                limit: limit,
                at: now,
                isWhole: context.identities.showsWholeHistory
            )
        ) { known, count in
            refused(known, owner) ?? .inbox(.unread(count))
        }
    }

    private static func isStorable(_ owner: HistoryPage.Owner) -> Bool {
        if case .user(let user?) = owner { Storable.isKey(user.rawValue) } else { true }
    }

    /// The refusal if the caller with these preferences may not read the messages of `owner`; nil: it may.
    private static func refused(_ known: DevicePreferences?, _ owner: HistoryPage.Owner) -> Reply? {
        guard let known else { return .refused(.unknownDevice) }
        if case .user(let user?) = owner, user != known.user { return .refused(.unknownDevice) }
        return nil
    }

    static func message(_ number: String, _ caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        guard Storable.isKey(number) else { return .refused(.unknownMessage) }
        return Plan(
            FindPreferences(context.scope, caller),
            FindInboxMessage(
                context.scope,
                caller,
                number: number,
                isWhole: context.identities.showsWholeHistory
            )
        ) { known, entry in
            guard known != nil else { return .refused(.unknownDevice) }
            return entry.map { .inbox(.message($0)) } ?? .refused(.unknownMessage)
        }
    }

    static func poll(_ caller: DeviceCaller, limit: Int, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        let limit = min(max(limit, 1), HistoryPage.limit)
        return Plan(
            FindPreferences(context.scope, caller),
            PollInbox(context.scope, caller, limit: limit, at: context.now),
            CountUnreceived(context.scope, caller, limit: HistoryPage.remainingLimit, at: context.now)
        ) { known, entries, remaining in
            known == nil ? .refused(.unknownDevice) : .inbox(.polled(entries, remaining: remaining))
        }
    }
}

extension DeviceCaller {
    /// Whether the store can look the caller up at all.
    var isStorable: Bool {
        guard key != nil || token != nil || user != nil else { return false }
        return (key.map { Storable.isKey($0.rawValue) } ?? true) && Storable.fits(token?.text, CommandLimits.tokenBytes)
            && (user.map { Storable.isKey($0.rawValue) } ?? true)
    }

    /// Whether the caller is a device and not only a user name.
    var isDevice: Bool { (key != nil || token != nil) && isStorable }
}
