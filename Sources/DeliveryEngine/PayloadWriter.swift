package import Model

/// Writes the payload of one target, in the dialect of the SDK that will show it.
///
/// A value, made once by the wiring: adapters are pure, so that writing may happen inside a machine.
package struct PayloadWriter: Sendable {
    private let adapters: [Vendor: any VendorAdapter]

    package init(adapters: [Vendor: any VendorAdapter]) { self.adapters = adapters }

    /// The payload for `target`, or why there is none.
    ///
    /// - Throws: `PayloadProblem`.
    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(PayloadProblem) -> PushPayload {
        guard let adapter = adapters[target.vendor] else { throw .noAdapter }
        do {
            return try adapter.payload(for: notification, to: target, settings: settings)
        } catch {
            throw error.code == .tooLarge ? .payloadTooLarge : .payloadInvalid
        }
    }
}

/// Why a payload could not be written. The raw value is the delivery's reason.
package enum PayloadProblem: String, Error, Sendable, Hashable, CaseIterable {
    /// It cannot be made to fit the transport's limit.
    case payloadTooLarge
    /// The content cannot be shown by that SDK.
    case payloadInvalid
    /// The identity speaks a dialect that this build does not have.
    case noAdapter
}

/// Reasons of our own for a delivery that failed, beside the peer's and `PayloadProblem`.
package enum FailureReason: String, Sendable, Hashable, CaseIterable {
    /// Tried as often as allowed, and the peer always said "not now".
    case gaveUp
    /// This build has no transport for the device's platform.
    case noTransport
}
