import Foundation
package import Model
package import Store

/// The rules for webhooks. Each act that changes something writes a row of the audit.
package enum WebhookRules {
    /// Stores a webhook. The answer is false if the tenant has `limit` webhooks already.
    package static func create(
        _ webhook: NewWebhook,
        limit: Int = CommandLimits.webhooksPerTenant,
        by actor: AuditActor
    ) -> StoreRequest<Bool> {
        let shown = WebhookChange(url: webhook.url, kinds: webhook.filter.kinds, isActive: webhook.isActive)
        return StoreRequest(CreateWebhook(webhook, limit: limit)) { $0 }
            .ending { $0 ? audit(.create, webhook.id, shown, by: actor) : [] }
    }

    /// Changes a webhook. The answer is false if it does not exist.
    package static func change(
        _ webhook: WebhookID,
        _ change: WebhookChange,
        by actor: AuditActor
    ) -> StoreRequest<Bool> {
        StoreRequest(ChangeWebhook(webhook, change)) { $0 }
            .ending { $0 ? audit(.write, webhook, change, by: actor) : [] }
    }

    /// Removes a webhook. The answer is false if it does not exist.
    package static func remove(_ webhook: WebhookID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(RemoveWebhook(webhook)) { $0 }.ending { $0 ? audit(.remove, webhook, nil, by: actor) : [] }
    }

    /// Delivers everything after `offset` again.
    package static func replay(_ webhook: WebhookID, from offset: Int64) -> StoreRequest<ReplayOutcome> {
        StoreRequest(ReplayWebhook(webhook, from: offset)) { $0 }
    }

    private static func audit(
        _ action: AuditAction,
        _ webhook: WebhookID,
        _ change: WebhookChange?,
        by actor: AuditActor
    ) -> [any StoreOperation] {
        var data = JSONObject([])
        if let url = change?.url { data["url"] = .string(place(of: url)) }
        if let kinds = change?.kinds { data["kinds"] = .array(kinds.map { .string($0) }) }
        if let isActive = change?.isActive { data["active"] = .bool(isActive) }
        let record = AuditRecord(action, "webhook \(webhook)", data: change.map { _ in .object(data) })
        return [WriteAudit([record], by: actor)]
    }

    /// The scheme, host and port: path and query may contain a secret.
    private static func place(of url: String) -> String {
        guard let parts = URLComponents(string: url), let host = parts.host else { return "" }
        return (parts.scheme.map { "\($0)://" } ?? "") + host + (parts.port.map { ":\($0)" } ?? "")
    }
}
