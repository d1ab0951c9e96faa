import HTTPTypes
import Hummingbird
import Model
import Postgres

/// `/v1/webhooks`: who may make one hears of everything that happens to the tenant, so it takes the scope `admin`.
extension NativeAPI {
    func webhooks(_ call: Call) async throws(Problem) -> Response {
        switch (call.request.method, call.segments.count) {
        case (.post, 1): return try await createWebhook(call)
        case (.get, 1): return try await listWebhooks(call)
        case (.get, 2): return .json(NativeShapes.webhook(try await webhook(call), head: try await head(call)))
        case (.patch, 2): return try await changeWebhook(call)
        case (.delete, 2): return try await removeWebhook(call)
        case (.post, 3) where call.segments[2] == "replay": return try await replayWebhook(call)
        default: throw .methodNotAllowed("\(call.request.method) \(call.request.uri.path.prefix(64))")
        }
    }

    private func head(_ call: Call) async throws(Problem) -> Int64 {
        try await asked { () async throws(StoreError) in try await queries.eventBounds(in: call.tenant).head }
    }

    private func webhookID(_ call: Call) throws(Problem) -> WebhookID {
        guard let id = WebhookID(text: call.segments[1]) else { throw .notFound("no such webhook") }
        return id
    }

    private func webhook(_ call: Call) async throws(Problem) -> WebhookFacts {
        try call.require("read")
        let id = try webhookID(call)
        let facts = try await asked { () async throws(StoreError) in try await desk.store.webhook(id, in: call.tenant) }
        guard let facts else { throw .notFound("no such webhook") }
        return facts
    }

    private func listWebhooks(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let all = try await asked { () async throws(StoreError) in try await desk.store.webhooks(in: call.tenant) }
        let head = try await head(call)
        return .json(["webhooks": .array(all.map { NativeShapes.webhook($0, head: head) })])
    }

    private func createWebhook(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        var (fields, _) = try await fields(call)
        let url = try desk.url(try fields.requiredText("url", limit: WebhookDesk.urlLimitBytes))
        let app = try fields.text("app", limit: 64).map { AppID($0) }
        let kinds = try Self.kinds(try fields.texts("kinds", limit: EventKind.allCases.count))
        let own = try fields.text("secret", limit: WebhookDesk.secretBytes.upperBound)
        if let own, own.utf8.count < WebhookDesk.secretBytes.lowerBound {
            throw .invalid("secret", "at least \(WebhookDesk.secretBytes.lowerBound) bytes, or none to get one")
        }
        let isActive = try fields.flag("active") ?? true
        try fields.finish()
        let id = WebhookID(rawValue: identifiers.uuid(at: clock.now()))
        let secret = own ?? desk.newSecret()
        let webhook = NewWebhook(
            id: id,
            url: url,
            filter: EventFilter(app: app, kinds: kinds),
            secret: try desk.seal(secret, of: id, in: call.tenant),
            isActive: isActive
        )
        let isCreated = try await asked { () async throws(StoreError) in
            try await desk.store.create(webhook, in: call.tenant, limit: WebhookDesk.perTenant)
        }
        guard isCreated else { throw .invalid("webhooks", "a tenant has at most \(WebhookDesk.perTenant)") }
        let stored = try await asked { () async throws(StoreError) in try await desk.store.webhook(id, in: call.tenant)
        }
        guard let stored, case .object(var object) = NativeShapes.webhook(stored, head: try await head(call)) else {
            throw .unavailable(5)
        }
        // Told now and never again.
        object["secret"] = .string(secret)
        return .json(.object(object), status: .created)
    }

    private func changeWebhook(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        let id = try webhookID(call)
        var (fields, _) = try await fields(call)
        var change = WebhookChange()
        if let text = try fields.text("url", limit: WebhookDesk.urlLimitBytes) { change.url = try desk.url(text) }
        if fields.value("kinds") != nil {
            change.kinds = try Self.kinds(try fields.texts("kinds", limit: EventKind.allCases.count))
        }
        change.isActive = try fields.flag("active")
        try fields.finish()
        let wanted = change
        let isKnown = try await asked { () async throws(StoreError) in
            try await desk.store.change(id, wanted, in: call.tenant)
        }
        guard isKnown else { throw .notFound("no such webhook") }
        return .json(NativeShapes.webhook(try await webhook(call), head: try await head(call)))
    }

    private func removeWebhook(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        let id = try webhookID(call)
        let isKnown = try await asked { () async throws(StoreError) in try await desk.store.remove(id, in: call.tenant)
        }
        guard isKnown else { throw .notFound("no such webhook") }
        return Response(status: .noContent)
    }

    private func replayWebhook(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        let id = try webhookID(call)
        var (fields, _) = try await fields(call)
        guard let from = try fields.integer("from", in: 0...Int64.max) else { throw .invalid("from", "is missing") }
        try fields.finish()
        let outcome = try await asked { () async throws(StoreError) in
            try await desk.store.replay(id, from: from, in: call.tenant)
        }
        switch outcome {
        case .moved: return .json(NativeShapes.webhook(try await webhook(call), head: try await head(call)))
        case .unknown: throw .notFound("no such webhook")
        case .outside(let bounds):
            throw .invalid("from", "the log holds what is after \(bounds.first), up to \(bounds.head)")
        }
    }
}
