import Model

/// What devices ask about all their messages. The caller must be registered; what it may see follows from its own registration alone.
enum HistoryRules {
    static func page(_ page: HistoryPage, _ caller: DeviceCaller, _ context: RuleContext) -> Plan {
        // Only what is looked at may be shown to a name.
        guard page.look == nil ? caller.isDevice : caller.isStorable else { return .refused(.unknownDevice) }
        guard page.before.map(Storable.isKey) ?? true else { return .refused(.invalid("before")) }
        guard isStorable(page.owner) else { return .refused(.unknownDevice) }
        var page = page
        page.count = min(max(page.count, 1), HistoryPage.limit)
        return Plan([
            .preferences(context.scope, caller), .history(context.scope, caller, page, at: context.now),
        ]) { [page] answers in
            if let refused = refused(answers, page.owner) { return refused }
            guard case .inbox(let entries)? = answers.last else { return .unavailable }
            return .inbox(.history(entries))
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
        return Plan([
            .preferences(context.scope, caller),
            .userMessage(context.scope, caller, user, number: number, hiddenBy: hiddenBy),
        ]) { answers in
            if let refused = refused(answers, .user(user)) { return refused }
            guard case .inbox(let entries)? = answers.last else { return .unavailable }
            return entries.first.map { .inbox(.message($0)) } ?? .refused(.unknownMessage)
        }
    }

    static func unread(
        _ caller: DeviceCaller,
        _ owner: HistoryPage.Owner,
        hiddenBy: String?,
        _ context: RuleContext
    ) -> Plan {
        guard caller.isStorable, isStorable(owner) else { return .refused(.unknownDevice) }
        return Plan([
            .preferences(context.scope, caller),
            .unread(context.scope, caller, owner, hiddenBy: hiddenBy, limit: HistoryPage.lookLimit, at: context.now),
        ]) { answers in
            if let refused = refused(answers, owner) { return refused }
            guard case .count(let count)? = answers.last else { return .unavailable }
            return .inbox(.unread(count))
        }
    }

    private static func isStorable(_ owner: HistoryPage.Owner) -> Bool {
        if case .user(let user?) = owner { Storable.isKey(user.rawValue) } else { true }
    }

    /// Why the caller gets nothing of `owner`; nil: it may. The first answer is that to `.preferences`.
    private static func refused(_ answers: [StoreAnswer], _ owner: HistoryPage.Owner) -> Reply? {
        guard let facts = answers.first?.preferences else { return .unavailable }
        guard let known = facts.known else { return .refused(.unknownDevice) }
        if case .user(let user?) = owner, user != known.user { return .refused(.unknownDevice) }
        return nil
    }

    static func message(_ number: String, _ caller: DeviceCaller, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        guard Storable.isKey(number) else { return .refused(.unknownMessage) }
        return Plan([
            .preferences(context.scope, caller), .inboxMessage(context.scope, caller, number: number),
        ]) { answers in
            guard let facts = answers.first?.preferences, case .inbox(let entries)? = answers.last else {
                return .unavailable
            }
            guard facts.known != nil else { return .refused(.unknownDevice) }
            return entries.first.map { .inbox(.message($0)) } ?? .refused(.unknownMessage)
        }
    }

    static func poll(_ caller: DeviceCaller, limit: Int, _ context: RuleContext) -> Plan {
        guard caller.isDevice else { return .refused(.unknownDevice) }
        let limit = min(max(limit, 1), HistoryPage.limit)
        return Plan([
            .preferences(context.scope, caller), .poll(context.scope, caller, limit: limit, at: context.now),
            .unreceived(context.scope, caller, limit: HistoryPage.remainingLimit, at: context.now),
        ]) { answers in
            guard let facts = answers.first?.preferences, answers.count == 3, case .inbox(let entries) = answers[1],
                case .count(let remaining) = answers[2]
            else { return .unavailable }
            guard facts.known != nil else { return .refused(.unknownDevice) }
            return .inbox(.polled(entries, remaining: remaining))
        }
    }
}

extension DeviceCaller {
    /// Whether the store can look for it at all.
    var isStorable: Bool {
        guard key != nil || token != nil || user != nil else { return false }
        return (key.map { Storable.isKey($0.rawValue) } ?? true) && Storable.fits(token?.text, CommandLimits.tokenBytes)
            && (user.map { Storable.isKey($0.rawValue) } ?? true)
    }

    /// Whether it is a device that calls, not just a name.
    var isDevice: Bool { (key != nil || token != nil) && isStorable }
}

extension Reply {
    /// A store that answers with another case has a bug: the caller is told to try again, and nothing traps.
    static let unavailable = Reply.refused(.unavailable(retryAfter: nil))
}

extension StoreAnswer {
    /// The answer to `.preferences`, which finds the caller.
    var preferences: FoundPreferences? {
        if case .preferences(let known) = self { FoundPreferences(known: known) } else { nil }
    }
}

/// The preferences of a caller; nil: there is no such device.
struct FoundPreferences {
    var known: DevicePreferences?
}
