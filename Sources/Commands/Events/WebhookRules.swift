package import Model
package import Store

/// The rules for webhooks.
package enum WebhookRules {
    /// Stores a webhook. The answer is false if the tenant has `limit` webhooks already.
    package static func create(
        _ webhook: NewWebhook,
        limit: Int = CommandLimits.webhooksPerTenant
    ) -> StoreRequest<Bool> {
        StoreRequest(CreateWebhook(webhook, limit: limit)) { $0 }
    }

    /// Changes a webhook. The answer is false if it does not exist.
    package static func change(_ webhook: WebhookID, _ change: WebhookChange) -> StoreRequest<Bool> {
        StoreRequest(ChangeWebhook(webhook, change)) { $0 }
    }

    /// Removes a webhook. The answer is false if it does not exist.
    package static func remove(_ webhook: WebhookID) -> StoreRequest<Bool> {
        StoreRequest(RemoveWebhook(webhook)) { $0 }
    }

    /// Delivers everything after `offset` again.
    package static func replay(_ webhook: WebhookID, from offset: Int64) -> StoreRequest<ReplayOutcome> {
        StoreRequest(ReplayWebhook(webhook, from: offset)) { $0 }
    }
}
