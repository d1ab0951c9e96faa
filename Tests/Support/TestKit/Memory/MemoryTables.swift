import Commands
import DeliveryEngine
import Model

/// The rows and the rules of the in-memory store, without a lock: `MemoryDatabase` holds one. A value, so that a transaction is a copy.
struct MemoryTables: Sendable {
    struct KeyIndex: Hashable, Sendable {
        var scope: AppScope
        var key: VendorDeviceKey
    }
    struct TokenIndex: Hashable, Sendable {
        var app: AppID
        var platform: Platform
        var environment: PushEnvironment
        var token: DeviceToken
    }
    struct PhoneIndex: Hashable, Sendable {
        var scope: AppScope
        var phone: String
    }
    struct SenderIndex: Hashable, Sendable {
        var scope: AppScope
        var id: SenderID
    }
    struct GroupIndex: Hashable, Sendable {
        var scope: AppScope
        var name: GroupName
    }
    struct IdempotencyIndex: Hashable, Sendable {
        var scope: AppScope
        var key: String
    }
    struct Repeat: Sendable {
        var bodyHash: String
        var message: MessageID
    }
    struct Answer: Sendable {
        var bodyHash: String
        var answer: KeptAnswer
    }
    struct Variant: Hashable, Sendable {
        var identity: IdentityID
        var name: String
    }
    struct Medium: Sendable {
        var bytes: [UInt8]
        var contentType: String
    }

    var apps: [Scoped<AppID>: AppRow] = [:]
    var devices: [Scoped<DeviceID>: DeviceRow] = [:]
    var deviceByToken: [Scoped<TokenIndex>: DeviceID] = [:]
    var identities: [Scoped<IdentityID>: IdentityRow] = [:]
    var identityByKey: [Scoped<KeyIndex>: IdentityID] = [:]
    var identitiesByDevice: [Scoped<DeviceID>: Set<IdentityID>] = [:]
    var identitiesByPhone: [Scoped<PhoneIndex>: Set<IdentityID>] = [:]
    var variants: [Scoped<TargetID>: Variant] = [:]
    var groups: [Scoped<GroupIndex>: GroupRow] = [:]
    var senders: [Scoped<SenderIndex>: SenderRow] = [:]
    var verifications: [Scoped<PhoneIndex>: VerificationRow] = [:]
    var messages: [Scoped<MessageID>: MessageRow] = [:]
    var slices: [SliceKey: SliceRow] = [:]
    var slicesByMessage: [Scoped<MessageID>: [Int32]] = [:]
    var deliveries: [Scoped<DeliveryKey>: DeliveryRow] = [:]
    var targetsByMessage: [Scoped<MessageID>: [TargetID]] = [:]
    var targetsByIdentity: [Scoped<IdentityID>: [DeliveryKey]] = [:]
    var repeats: [Scoped<IdempotencyIndex>: Repeat] = [:]
    /// By repeat key.
    var answers: [Scoped<String>: Answer] = [:]
    var media: [Scoped<String>: Medium] = [:]
    /// What dialects call messages, and the last number each app drew.
    var numbersByMessage: [Scoped<MessageID>: [Vendor: String]] = [:]
    var lastNumbers: [Scoped<AppScope>: Int64] = [:]
    /// Each tenant's events: the place in the array plus one is the offset.
    var events: [TenantID: [EventRecord]] = [:]
    var webhooks: [Scoped<WebhookID>: WebhookRow] = [:]
    var refusals: [CredentialKey: Rejection] = [:]
    var nodes: [NodeID: Timestamp] = [:]
    /// By tenant and name.
    var budgets: [TenantID: [String: Timestamp]] = [:]
    var badges: [Scoped<HolderIndex>: Int] = [:]
    var marks: [Scoped<MarkIndex>: Mark] = [:]
    var references: [Scoped<ReferenceIndex>: MessageID] = [:]
    /// The last number given out under a name.
    var numbers: [Scoped<ReferenceIndex>: Int] = [:]
    var pages: [String: (name: String, body: String)] = [:]
    var profiles: [Scoped<UserIndex>: ProfileRow] = [:]
    var userAliases: [Scoped<AliasIndex>: UserID] = [:]
    var batches: Set<Scoped<IdempotencyIndex>> = []
    var campaigns: [Scoped<CampaignIndex>: Campaign] = [:]
    var schedules: [Scoped<ScheduleIndex>: ScheduleRow] = [:]
    var labels: [Scoped<LabelIndex>: Set<MessageID>] = [:]

    /// Runs one statement.
    mutating func run(_ statement: StoreStatement, in tenant: TenantID, now: Timestamp) -> StoreAnswer {
        switch statement {
        case .register(let scope, let key, let registration, let identity, let device, let at):
            .registered(
                register(tenant, scope, key: key, registration, newIdentity: identity, newDevice: device, at: at)
            )
        case .updateToken(let scope, let key, let token, let environment, let at):
            .count(updateToken(tenant, scope, key: key, token, environment, at: at))
        case .unregister(let scope, let selector, let at): .count(unregister(tenant, scope, selector, at: at))
        case .identity(let scope, let key): .identity(facts(tenant, scope, key))
        case .registerSender(let scope, let name, let id): .sender(registerSender(tenant, scope, name: name, id: id))
        case .sender(let scope, let id): .sender(senderFacts(tenant, scope, id))
        case .enrolSender(let scope, let id, let key, _, _): .sender(enrolSender(tenant, scope, id, key: key))
        case .setCallback(let scope, let id, let url): .count(setCallback(tenant, scope, id, url: url, now: now))
        case .putVerification(let scope, let phone, let hash, let limits, let at):
            .permitted(putVerification(tenant, scope, phone: phone, hash, limits, at: at), platform: nil)
        case .checkVerification(let scope, let phone, let hash, let limits, let at):
            .permitted(checkVerification(tenant, scope, phone: phone, hash, limits, at: at), platform: nil)
        case .putGroup(let scope, let name): .groupPut(isNew: putGroup(tenant, scope, name, now: now))
        case .deleteGroup(let scope, let name): .count(deleteGroup(tenant, scope, name))
        case .groups(let scope, let names): .groups(groupFacts(tenant, scope, names))
        case .changeMembers(let scope, let name, let change):
            .membersChanged(changeMembers(tenant, scope, name, change))
        case .receipt(let scope, let message, let reporter, let kind, let at):
            .receipt(receipt(tenant, scope, message, reporter, kind, at: at))
        case .delivery(let scope, let message, let reporter): delivery(tenant, scope, message, reporter)
        case .touch(let scope, let key, let at): .count(touch(tenant, scope, key, at: at))
        case .undelivered(let scope, let key, let since, let limit):
            .inbox(undelivered(tenant, scope, key, since: since, limit: limit))
        case .app(let scope): .app(appFacts(tenant, scope))
        case .resolve(let scope, let addresses): .resolved(addresses.map { resolve(tenant, scope, $0) })
        case .resolveUsers(let scope, let users, let limit):
            .resolvedUsers(Array(users.flatMap { resolveUser(tenant, scope, $0) }.prefix(max(0, limit))))
        case .accept(let message): .accepted(accept(tenant, message, now: now))
        case .control(let scope, let message, let action, _, let at):
            .count(control(tenant, scope, message, action, at: at))
        case .putMedia(let hash, let contentType, let bytes, _): putMedia(tenant, hash, contentType, bytes)
        case .media(let scope, let message, let id): medium(tenant, scope, message, id)
        case .ownMedia(let scope, let number, let owner): ownMedium(tenant, scope, number, owner)
        case .history, .inboxMessage, .poll, .unreceived, .reportNumber, .preferences, .setPreferences, .drawNumbers,
            .number, .numbers, .resolveAliases, .userMessage, .unread:
            runHistory(statement, in: tenant, now: now)
        case .assignUser(let scope, let key, let change): .assigned(assignUser(tenant, scope, key, change))
        case .standing(let scope, let key): .standing(standing(tenant, scope, key))
        case .identities(let scope, let filter, let from, let limit):
            .identities(identities(tenant, scope, filter, from: from, limit: limit))
        case .setBadge(let scope, let holder, let count): .badge(setBadge(tenant, scope, holder, count))
        case .acknowledge(let scope, let message, let holder, let kind, let change, let at):
            acknowledge(tenant, scope, message, holder, kind, change, at: at)
        case .visit(let scope, let user, _, _): .count(visit(tenant, scope, user))
        case .createGroup(let scope, let title): .groupCreated(createGroup(tenant, scope, title, now: now))
        case .titledGroups(let scope, let name, let limit):
            .titledGroups(titledGroups(tenant, scope, name, limit: limit))
        case .members(let scope, let name, let user, let limit):
            .members(members(tenant, scope, name, user, limit: limit))
        case .recipients(let scope, let users, let tokens, let limit):
            .recipients(recipients(tenant, scope, users, tokens, limit: limit))
        case .groupRecipients(let scope, let groups, let tokens, let limit):
            .recipients(recipients(tenant, scope, in: groups, tokens, limit: limit))
        case .sequenceMessage(let scope, let message): .number(sequenceMessage(tenant, scope, message))
        case .putVariables(let message, let variables): putVariables(tenant, message, variables)
        case .putPage(_, let page, let body, _): putPage(page, body)
        case .setPace: .count(1)
        // `InMemoryCommandStore` has asked `isOutdated` before anything was done.
        case .expect: .count(1)
        case .report(let scope, let message): .report(report(tenant, scope, message))
        case .profiles, .knownTokens, .putUsers, .userDetails, .eraseUsers, .resolveNames:
            runUsers(statement, in: tenant, now: now)
        case .campaigns(let scope, let statement): runCampaigns(statement, scope, in: tenant, now: now)
        }
    }

    private mutating func putMedia(
        _ tenant: TenantID,
        _ hash: String,
        _ contentType: String,
        _ bytes: [UInt8]
    ) -> StoreAnswer {
        let isNew = media[Scoped(tenant, hash)] == nil
        media[Scoped(tenant, hash)] = Medium(bytes: bytes, contentType: contentType)
        return .count(isNew ? 1 : 0)
    }

    private mutating func putVariables(_ tenant: TenantID, _ message: MessageID, _ variables: [UserVariables])
        -> StoreAnswer
    {
        for entry in variables { messages[Scoped(tenant, message)]?.variables[entry.user] = entry.values }
        return .count(variables.count)
    }

    private mutating func putPage(_ page: PageReference, _ body: String) -> StoreAnswer {
        pages[page.id] = (page.name, body)
        return .count(1)
    }

    private func medium(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID, _ id: String) -> StoreAnswer {
        guard let row = messages[Scoped(tenant, message)], row.message.scope.app == scope.app,
            let reference = row.message.content.media, reference.id == id,
            let medium = media[Scoped(tenant, reference.hash)]
        else { return .noMedia }
        return .media(bytes: medium.bytes, contentType: medium.contentType)
    }

    private func ownMedium(_ tenant: TenantID, _ scope: AppScope, _ number: String, _ owner: String) -> StoreAnswer {
        guard let message = references[Scoped(tenant, ReferenceIndex(scope: scope, reference: number))],
            let row = messages[Scoped(tenant, message)], let reference = row.message.content.media,
            row.message.content.data[MediaCommand.ownerKey]?.string == owner
        else { return .noMedia }
        return medium(tenant, row.message.scope, message, reference.id)
    }
}

extension AppScope {
    /// Whether an identity in `other` belongs to a call in this scope: the native API speaks for every dialect of the app.
    func covers(_ other: AppScope) -> Bool { app == other.app && (vendor == other.vendor || vendor == .native) }
}
