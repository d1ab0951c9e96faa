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
            .ending { $0 ? audit(.create, webhook.id, nil, shown, by: actor) : [] }
    }

    /// Changes a webhook. The answer is false if it does not exist.
    package static func change(
        _ webhook: WebhookID,
        _ change: WebhookChange,
        by actor: AuditActor
    ) -> StoreRequest<Bool> {
        StoreRequest(ChangeWebhook(webhook, change)) { $0 }
            .ending { $0.map { audit(.write, webhook, $0, change, by: actor) } ?? [] }
            .map { $0 != nil }
    }

    /// Removes a webhook. The answer is false if it does not exist.
    package static func remove(_ webhook: WebhookID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(RemoveWebhook(webhook)) { $0 }.ending {
            $0 ? [WriteAudit([AuditRecord(.remove, "webhook \(webhook)")], by: actor)] : []
        }
    }

    /// Delivers everything after `offset` again.
    package static func replay(
        _ webhook: WebhookID,
        from offset: Int64,
        by actor: AuditActor
    ) -> StoreRequest<ReplayOutcome> {
        StoreRequest(ReplayWebhook(webhook, from: offset)) { $0 }.ending { outcome in
            guard case .moved = outcome else { return [] }
            let record = AuditRecord(.replay, "webhook \(webhook)", data: ["from": .int(offset)])
            return [WriteAudit([record], by: actor)]
        }
    }

    /// Writes the settings of `change`, and with `before` those that differ from it.
    private static func audit(
        _ action: AuditAction,
        _ webhook: WebhookID,
        _ before: WebhookChange?,
        _ change: WebhookChange,
        by actor: AuditActor
    ) -> [any StoreOperation] {
        var data = settings(change)
        if let before {
            var after = compared(before)
            for (name, value) in compared(change).pairs { after[name] = value }
            data["changes"] = SettingChanges(from: compared(before), to: after) { $0 == pathAndQuery }.json
        }
        return [WriteAudit([AuditRecord(action, "webhook \(webhook)", data: .object(data))], by: actor)]
    }

    /// The part of an address that may contain a secret.
    private static let pathAndQuery = "pathAndQuery"

    private static func settings(_ change: WebhookChange) -> JSONObject {
        var settings = JSONObject()
        settings["url"] = change.url.map { .string(SettingChanges.place(of: $0)) }
        settings["kinds"] = change.kinds.map { .array($0.map { .string($0) }) }
        settings["active"] = change.isActive.map { .bool($0) }
        return settings
    }

    private static func compared(_ change: WebhookChange) -> JSONObject {
        var settings = settings(change)
        settings[pathAndQuery] = change.url.map {
            .string(String($0.dropFirst(SettingChanges.place(of: $0).count)))
        }
        return settings
    }
}
