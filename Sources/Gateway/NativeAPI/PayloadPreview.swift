import APNs
import AnswerShapes
import DeliveryEngine
package import EngineStore
import Explain
import FoundationEssentials
package import Model

/// Shows the push that each dialect of an app would send for a message, without sending it.
package struct PayloadPreview: Sendable {
    let directory: PostgresDirectory
    let vendors: VendorCatalog
    let clock: any WallClock
    let identifiers: any IdentifierSource

    package init(
        directory: PostgresDirectory,
        vendors: VendorCatalog,
        clock: any WallClock,
        identifiers: any IdentifierSource
    ) {
        self.directory = directory
        self.vendors = vendors
        self.clock = clock
        self.identifiers = identifiers
    }

    var adapters: [Vendor: any VendorAdapter] { vendors.byVendor }

    /// The schema of `json`.
    static let schema = JSONSchema.object([
        ("previews", .map(of: PushPicture.schema).described("By vendor."), true)
    ]).named("PayloadPreviews")

    /// One entry per dialect bound to the app, and the native one: the request's headers, the fields that would be refused, the size and the
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
            expiresAt: submission.timing.timeToLive.map {
                (submission.timing.dueAt ?? submission.timing.localDue?.latest ?? now) + $0
            },
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
                destination: PushDestination(
                    platform: .ios,
                    environment: .production,
                    token: nil,
                    tokenState: .none
                )
            )
            out[vendor.rawValue] =
                switch PushPicture.make(
                    adapter,
                    notification,
                    target,
                    settings[vendor] ?? BindingSettings(tenant: tenant, app: app),
                    topic: topic,
                    id: PushID(target.target.rawValue)
                ) {
                case .success(let picture): picture.json(token: PushPicture.token)
                case .failure(let error): PushPicture.json(of: error)
                }
        }
        return ["previews": .object(out)]
    }
}
