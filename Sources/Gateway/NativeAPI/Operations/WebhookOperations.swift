import AnswerShapes
import Commands
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Secrets
import Store

/// `/v1/webhooks`. A webhook receives every event of the tenant, so that changing one requires `admin`.
enum WebhookOperations {
    static let all = [create, list, show, update, delete, replay, rotateSecret]

    static let id = PathField.required("webhook", .id(WebhookID.self, missing: "no such webhook"), "The webhook's id.")

    struct Shown: Sendable {
        var facts: WebhookFacts
        /// The last offset of the tenant's log.
        var head: Int64
        /// The signing secret; present only in the answer to the creation.
        var secret: String?

        var state: String {
            if facts.isActive { return facts.attempts == 0 ? "active" : "failing" }
            return facts.failure == nil ? "paused" : "stopped"
        }
    }

    private static let members: [AnswerShape<Shown>.Member] = [
        .id("id", "The webhook's id.") { $0.facts.id.description },
        .text("url", "The called URL.", example: "https://example.com/events") { $0.facts.url },
        .optionalText("app", "Only events of this app; null: of all.", example: "shop") {
            $0.facts.filter.app?.rawValue
        },
        .texts("kinds", "Only these kinds of events; empty: all.", example: "sent") { $0.facts.filter.kinds },
        .word("order", "`log`: one call at a time; `device`: in parallel, in order per device.") { $0.facts.order },
        .flag("active", "Whether the webhook is active.") { $0.facts.isActive },
        .word(
            "state",
            among: ["active", "failing", "paused", "stopped"],
            "`paused` by its owner; `stopped` by the gateway after three days of failures."
        ) { $0.state },
        .text("keyId", "The signing key's id.", example: "whk_01020304") { $0.facts.keyID },
        .time("createdAt", "When it was created.") { $0.facts.createdAt },
        .int64("cursor", "The offset of the last event that was delivered.") { $0.facts.cursor },
        .int64("head", "The last offset of the log.") { $0.head },
        .int("failures", "Consecutive failures.") { $0.facts.attempts },
        .optionalText("lastError", "The reason why the last call failed.", example: "timeout") { $0.facts.failure },
    ]

    static let webhook = AnswerShape<Shown>("Webhook", members)

    static let created = AnswerShape<Shown>(
        "CreatedWebhook",
        members + [
            .text("secret", "The signing secret. It is not shown again.", example: "whsec_0123456789abcdef") {
                $0.secret ?? ""
            }
        ]
    )

    private static let kinds = InputKind<[String]>.list(
        .word(among: EventKind.allCases.map(\.rawValue)),
        limit: EventKind.allCases.count
    )

    private static let urlKind = InputKind<String>.text(WebhookRegistry.urlLimitBytes, atLeast: 1)
        .example("https://example.com/events")

    struct CreateInput: InputFields {
        let url = BodyField.required("url", WebhookOperations.urlKind, "The URL to call: http or https.")
        let app = BodyField.optional("app", .app, "Only events of this app; null: of all.")
        let kinds = BodyField.optional("kinds", WebhookOperations.kinds, default: [], "Only these kinds; empty: all.")
        let secret = BodyField.optional(
            "secret",
            .text(WebhookRegistry.secretBytes.upperBound, atLeast: WebhookRegistry.secretBytes.lowerBound)
                .example("whsec_000102030405060708090a0b0c0d0e0f"),
            "The signing secret; null: the gateway creates one."
        )
        let order = BodyField.optional(
            "order",
            .word(WebhookOrder.self),
            default: .log,
            as: "log",
            "`log`: one call at a time, in the order of the log; `device`: larger calls in parallel, in order per device."
        )
        let active = BodyField.optional("active", .flag, default: true, as: true, "Whether the webhook is active.")
    }

    static let create = NativeOperation(
        "createWebhook",
        .post,
        "/v1/webhooks",
        scope: .admin,
        "Subscribe a URL to events from now on.",
        input: CreateInput(),
        example: ["url": "https://example.com/events", "kinds": ["sent", "failed"]],
        answers: [.json(201, created.schema, "The webhook, with its secret.")],
        NativeAPI.createWebhook
    ).audited(.act)

    static let list = NativeOperation(
        "listWebhooks",
        .get,
        "/v1/webhooks",
        scope: .read,
        "List all webhooks and their states.",
        input: NoInput(),
        answers: [
            .json(
                JSONSchema.object([("webhooks", .list(of: webhook.schema), true)]).named("Webhooks"),
                "The webhooks."
            )
        ],
        NativeAPI.listWebhooks
    )

    struct IDInput: InputFields {
        let webhook = WebhookOperations.id
    }

    static let show = NativeOperation(
        "showWebhook",
        .get,
        "/v1/webhooks/{webhook}",
        scope: .read,
        "Show a webhook and its state.",
        input: IDInput(),
        answers: [.json(webhook.schema, "The webhook.")],
        problems: [.notFound],
        NativeAPI.showWebhook
    )

    struct UpdateInput: InputFields {
        let webhook = WebhookOperations.id
        let url = BodyField.optional("url", WebhookOperations.urlKind, "The URL to call; null: unchanged.")
        let kinds = BodyField.optional("kinds", WebhookOperations.kinds, "Only these kinds; null: unchanged.")
        let active = BodyField.optional("active", .flag, "False pauses it, true resumes it; null: unchanged.")
    }

    /// 7 days for receivers to take the new secret.
    private static let overlapLimit = 7 * 86_400

    struct RotateInput: InputFields {
        let webhook = WebhookOperations.id
        let secret = BodyField.optional(
            "secret",
            .text(WebhookRegistry.secretBytes.upperBound, atLeast: WebhookRegistry.secretBytes.lowerBound)
                .example("whsec_000102030405060708090a0b0c0d0e0f"),
            "The new secret; null: the gateway creates one."
        )
        let overlap = BodyField.optional(
            "overlapSeconds",
            .integer(0...WebhookOperations.overlapLimit),
            default: 86_400,
            as: 86_400,
            "How long the present secret signs next to the new one."
        )
    }

    static let rotateSecret = NativeOperation(
        "rotateWebhookSecret",
        .post,
        "/v1/webhooks/{webhook}/secret",
        scope: .admin,
        "Give a webhook a new secret. Calls have two signatures until the overlap ends.",
        input: RotateInput(),
        example: ["overlapSeconds": 86_400],
        answers: [.json(created.schema, "The webhook, with its new secret.")],
        problems: [.notFound],
        NativeAPI.rotateWebhookSecret
    ).audited(.act)

    static let update = NativeOperation(
        "updateWebhook",
        .patch,
        "/v1/webhooks/{webhook}",
        scope: .admin,
        "Change a webhook's URL or kinds, pause it, or resume it.",
        input: UpdateInput(),
        example: ["active": true],
        answers: [.json(webhook.schema, "The webhook.")],
        problems: [.notFound],
        NativeAPI.updateWebhook
    ).audited(.act)

    static let delete = NativeOperation(
        "deleteWebhook",
        .delete,
        "/v1/webhooks/{webhook}",
        scope: .admin,
        "Delete a webhook.",
        input: IDInput(),
        answers: [.empty("The webhook is deleted.")],
        problems: [.notFound],
        NativeAPI.deleteWebhook
    ).audited(.act)

    struct ReplayInput: InputFields {
        let webhook = WebhookOperations.id
        let from = BodyField.required("from", .position, "The offset; all events after it are delivered again.")
    }

    static let replay = NativeOperation(
        "replayWebhook",
        .post,
        "/v1/webhooks/{webhook}/replay",
        scope: .admin,
        "Deliver all events after an offset again.",
        input: ReplayInput(),
        answers: [.json(webhook.schema, "The webhook.")],
        problems: [.notFound],
        NativeAPI.replayWebhook
    ).audited(.act)
}

extension NativeAPI {
    private func shown(
        _ id: WebhookID,
        in tenant: TenantID,
        secret: String? = nil
    ) async throws(Problem) -> WebhookOperations.Shown {
        let facts = try await asked { () async throws(StoreError) in try await queries.webhook(id, in: tenant) }
        guard let facts else { throw .notFound("no such webhook") }
        return WebhookOperations.Shown(facts: facts, head: try await head(of: tenant), secret: secret)
    }

    private func head(of tenant: TenantID) async throws(Problem) -> Int64 {
        try await asked { () async throws(StoreError) in try await queries.eventBounds(in: tenant).head }
    }

    func createWebhook(_ call: NativeCall<WebhookOperations.CreateInput>) async throws(Problem) -> Response {
        let url = try webhooks.url(try call.url)
        let filter = EventFilter(app: try call.app, kinds: try call.kinds)
        let secret = try call.secret ?? webhooks.secrets.make()
        let id = WebhookID(rawValue: identifiers.uuid(at: clock.now()))
        let webhook = NewWebhook(
            id: id,
            url: url,
            filter: filter,
            secret: try webhooks.seal(secret, of: id, in: call.tenant),
            isActive: try call.active,
            order: try call.order
        )
        let isCreated = try await asked { () async throws(StoreError) in
            try await handler.run(WebhookRules.create(webhook, by: call.actor), in: call.tenant)
        }
        guard isCreated else {
            throw .invalid("webhooks", "at most \(CommandLimits.webhooksPerTenant) per tenant; delete one first")
        }
        let shown = try await shown(id, in: call.tenant, secret: secret)
        return .json(WebhookOperations.created.json(shown), status: .created)
    }

    func listWebhooks(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        let all = try await asked { () async throws(StoreError) in try await queries.webhooks(in: call.tenant) }
        let head = try await head(of: call.tenant)
        let shown = all.map { WebhookOperations.Shown(facts: $0, head: head) }
        return .json(["webhooks": .array(shown.map { WebhookOperations.webhook.json($0) })])
    }

    func showWebhook(_ call: NativeCall<WebhookOperations.IDInput>) async throws(Problem) -> Response {
        .json(WebhookOperations.webhook.json(try await shown(try call.webhook, in: call.tenant)))
    }

    func updateWebhook(_ call: NativeCall<WebhookOperations.UpdateInput>) async throws(Problem) -> Response {
        let id = try call.webhook
        var change = WebhookChange()
        if let text = try call.url { change.url = try webhooks.url(text) }
        change.kinds = try call.kinds
        change.isActive = try call.active
        let wanted = change
        let isKnown = try await asked { () async throws(StoreError) in
            try await handler.run(WebhookRules.change(id, wanted, by: call.actor), in: call.tenant)
        }
        guard isKnown else { throw .notFound("no such webhook") }
        return .json(WebhookOperations.webhook.json(try await shown(id, in: call.tenant)))
    }

    func rotateWebhookSecret(
        _ call: NativeCall<WebhookOperations.RotateInput>
    ) async throws(Problem) -> Response {
        let id = try call.webhook
        let secret = try call.secret ?? webhooks.secrets.make()
        let sealed = try webhooks.seal(secret, of: id, in: call.tenant)
        let overlap = Duration.seconds(try call.overlap)
        let isKnown = try await asked { () async throws(StoreError) in
            try await stores.webhookSecrets.rotate(id, to: sealed, overlap: overlap, in: call.tenant, by: call.actor)
        }
        guard isKnown else { throw .notFound("no such webhook") }
        return .json(WebhookOperations.created.json(try await shown(id, in: call.tenant, secret: secret)))
    }

    func deleteWebhook(_ call: NativeCall<WebhookOperations.IDInput>) async throws(Problem) -> Response {
        let id = try call.webhook
        let isKnown = try await asked { () async throws(StoreError) in
            try await handler.run(WebhookRules.remove(id, by: call.actor), in: call.tenant)
        }
        guard isKnown else { throw .notFound("no such webhook") }
        return Response(status: .noContent)
    }

    func replayWebhook(_ call: NativeCall<WebhookOperations.ReplayInput>) async throws(Problem) -> Response {
        let id = try call.webhook
        let from = try call.from
        let outcome = try await asked { () async throws(StoreError) in
            try await handler.run(WebhookRules.replay(id, from: from, by: call.actor), in: call.tenant)
        }
        switch outcome {
        case .moved: return .json(WebhookOperations.webhook.json(try await shown(id, in: call.tenant)))
        case .unknown: throw .notFound("no such webhook")
        case .outside(let bounds):
            throw .invalid("from", "the log contains the events after \(bounds.first), up to \(bounds.head)")
        }
    }
}
