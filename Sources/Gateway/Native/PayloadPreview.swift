import APNs
import DeliveryEngine
import FoundationEssentials
import Model
import Postgres

/// What each dialect of an app would send for a message, without sending it.
struct PayloadPreview: Sendable {
    let directory: PostgresDirectory
    let adapters: [Vendor: any VendorAdapter]
    let clock: any WallClock
    let identifiers: any IdentifierSource

    /// A token that nobody has, in place of the device's.
    private static let token = DeviceToken(stored: String(repeating: "0", count: 64))

    /// One entry per dialect bound to the app, and the native one: the request's headers, what would be refused in it, its size and the
    /// payload itself.
    ///
    /// - Throws: `StoreError`.
    func json(_ submission: Submission, app: AppID, tenant: TenantID) async throws(StoreError) -> JSON {
        let settings = try await directory.settings(of: app, in: tenant)
        let topic = try await directory.routes(of: app, in: tenant)[.ios]?.topic ?? ""
        let now = clock.now()
        let notification = Notification(
            message: MessageID(rawValue: identifiers.uuid(at: now)),
            origin: .native,
            content: submission.content,
            sentAt: now,
            expiresAt: submission.timeToLive.map { (submission.dueAt ?? now) + $0 },
            collapseID: submission.collapseID
        )
        var out = JSONObject()
        for vendor in (Set(settings.keys).union([.native])).sorted() {
            guard let adapter = adapters[vendor] else { continue }
            let identity = IdentityID(rawValue: identifiers.uuid(at: now))
            let target = TargetFacts(
                target: TargetID(identity),
                identity: identity,
                device: nil,
                app: app,
                vendor: vendor,
                key: "preview",
                platform: .ios,
                environment: .production,
                token: nil,
                tokenState: .none
            )
            out[vendor.rawValue] = Self.entry(
                adapter,
                notification,
                target,
                settings[vendor] ?? BindingSettings(tenant: tenant, app: app),
                topic
            )
        }
        return ["previews": .object(out)]
    }

    private static func entry(
        _ adapter: any VendorAdapter,
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        _ topic: String
    ) -> JSON {
        do {
            let payload = try adapter.payload(for: notification, to: target, settings: settings)
            let push = Push(
                slot: 0,
                token: token,
                environment: target.environment,
                topic: topic,
                id: PushID(target.target.rawValue),
                payload: payload,
                expiresAt: notification.expiresAt
            )
            let preview = PushPreview(push, authority: APNsEndpoint(target.environment).authority)
            return [
                "pushType": .string(payload.type.wireName), "priority": .int(payload.priority),
                "collapseId": payload.collapseID.map { .string($0) } ?? .null, "bytes": .int(payload.bytes.count),
                "reduced": .array(payload.reduced.map { .string($0) }),
                "headers": .object(JSONObject(preview.fields.map { ($0.name, .string($0.value)) })),
                "refused": preview.fault.map { .string($0.description) } ?? .null,
                "payload": (try? JSONParser.parse(payload.bytes)) ?? .null,
            ]
        } catch {
            return ["error": .string(error.description)]
        }
    }
}
