package import Model

extension WebhookLease {
    /// The sender, if the subscriber is one.
    package var sender: SenderID? { if case .sender(let id, _, _, _) = subscriber { id } else { nil } }
}
