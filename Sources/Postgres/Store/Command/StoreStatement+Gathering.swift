import Commands
import Model

extension [StoreStatement] {
    /// At most so many statements of one call share a flush with other calls: theirs wait for them.
    private static var gatheredLimit: Int { 8 }

    /// Whether these go together with other calls' statements and share one flush: short, and something is written.
    ///
    /// What writes must never answer from what another call wrote and has not flushed, so a long write ends with a flush of its own.
    var gather: Bool { count <= Self.gatheredLimit && contains(where: \.writes) && allSatisfy(\.isShort) }
}

extension StoreStatement {
    /// Targets of an acceptance that still counts as short: a slice's worth inserts in about the time of a flush.
    private static var shortTargetLimit: Int { 500 }

    /// Whether it changes rows.
    var writes: Bool {
        switch self {
        case .history(_, _, let page, _): page.look == nil
        case .campaigns(_, let statement): statement.writes
        case .identity, .sender, .groups, .delivery, .undelivered, .app, .resolve, .resolveUsers, .resolveAliases,
            .recipients, .groupRecipients, .media, .ownMedia, .inboxMessage, .unreceived, .preferences, .numbers,
            .standing,
            .identities,
            .titledGroups, .members, .userMessage, .unread, .expect, .report, .profiles, .knownTokens, .userDetails,
            .resolveNames:
            false
        case .register, .updateToken, .unregister, .registerSender, .enrolSender, .setCallback, .putVerification,
            .checkVerification, .putGroup, .deleteGroup, .changeMembers, .receipt, .touch, .accept, .control, .putMedia,
            .poll, .reportNumber, .setPreferences, .drawNumbers, .number, .assignUser, .setBadge, .acknowledge,
            .visit, .createGroup, .sequenceMessage, .putVariables, .putPage, .setPace, .putUsers, .eraseUsers:
            true
        }
    }

    /// Whether it looks at and writes few rows, whoever calls.
    fileprivate var isShort: Bool {
        switch self {
        case .accept(let message):
            message.slices.reduce(message.suppressed.count) { $0 + $1.targets.count } <= Self.shortTargetLimit
        case .register, .updateToken, .identity, .registerSender, .sender, .enrolSender, .setCallback, .putVerification,
            .checkVerification, .putGroup, .receipt, .delivery, .touch, .app, .reportNumber, .preferences,
            .setPreferences, .drawNumbers, .numbers, .assignUser, .standing, .setBadge, .acknowledge, .visit,
            .createGroup, .sequenceMessage, .setPace, .expect:
            true
        case .campaigns(_, let statement): !statement.isLong
        case .number(_, _, let targets, _): targets.count <= Self.shortTargetLimit
        case .unregister, .deleteGroup, .groups, .changeMembers, .undelivered, .resolve, .resolveUsers,
            .resolveAliases, .recipients, .groupRecipients, .control, .putMedia, .media, .ownMedia, .history,
            .inboxMessage, .poll,
            .unreceived,
            .identities, .titledGroups, .members, .putVariables, .putPage, .userMessage, .unread, .report,
            .profiles, .knownTokens, .putUsers, .userDetails, .eraseUsers, .resolveNames:
            false
        }
    }
}

extension CampaignStatement {
    fileprivate var writes: Bool {
        switch self {
        case .find, .list, .schedule, .schedules, .series: false
        case .put, .remove, .withdraw, .keep, .drop, .label: true
        }
    }

    /// A campaign is counted among all others; a schedule that is withdrawn may have many slices.
    fileprivate var isLong: Bool {
        switch self {
        case .find, .schedule, .label, .keep: false
        case .list, .schedules, .series, .put, .remove, .withdraw, .drop: true
        }
    }
}
