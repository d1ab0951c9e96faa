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
    /// Each tenant's events: the place in the array plus one is the offset.
    var events: [TenantID: [EventRecord]] = [:]
    var webhooks: [Scoped<WebhookID>: WebhookRow] = [:]
    var refusals: [CredentialKey: Rejection] = [:]
    var nodes: [NodeID: Timestamp] = [:]

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
        case .control(let scope, let message, let action, let at):
            .count(control(tenant, scope, message, action, at: at))
        case .putMedia(let hash, let contentType, let bytes, _): putMedia(tenant, hash, contentType, bytes)
        case .media(let scope, let message, let id): medium(tenant, scope, message, id)
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

    private func medium(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID, _ id: String) -> StoreAnswer {
        guard let row = messages[Scoped(tenant, message)], row.message.scope.app == scope.app,
            let reference = row.message.content.media, reference.id == id,
            let medium = media[Scoped(tenant, reference.hash)]
        else { return .noMedia }
        return .media(bytes: medium.bytes, contentType: medium.contentType)
    }

}

extension AppScope {
    /// Whether an identity in `other` belongs to a call in this scope: the native API speaks for every dialect of the app.
    func covers(_ other: AppScope) -> Bool { app == other.app && (vendor == other.vendor || vendor == .native) }
}
