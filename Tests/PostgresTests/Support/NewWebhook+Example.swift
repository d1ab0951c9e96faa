import Foundation
import Model

extension NewWebhook {
    /// A webhook that receives every event.
    static func example(
        _ id: WebhookID = WebhookID(rawValue: UUID()),
        order: WebhookOrder = .log
    ) -> NewWebhook {
        NewWebhook(
            id: id,
            url: "https://example.com/",
            filter: EventFilter(),
            secret: SealedSecret(keyID: "k", bytes: [1]),
            isActive: true,
            order: order
        )
    }
}
