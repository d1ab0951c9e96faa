package import Model

/// Writes the payload of one target, in the dialect of the SDK that will display it.
///
/// A value, created once by the wiring. Adapters are pure, so a state machine may write payloads.
package struct PayloadWriter: Sendable {
    /// Has an adapter write one payload, and applies what the message says to the push service alone.
    package typealias Write =
        @Sendable (any VendorAdapter, Notification, TargetFacts, BindingSettings)
        throws(AdapterError) -> PushPayload

    private let adapters: [Vendor: any VendorAdapter]
    private let write: Write

    /// `write`: without it, payloads are sent as the adapters write them.
    package init(
        adapters: [Vendor: any VendorAdapter],
        write: @escaping Write = { (adapter, notification, target, settings) throws(AdapterError) in
            try adapter.payload(for: notification, to: target, settings: settings)
        }
    ) {
        self.adapters = adapters
        self.write = write
    }

    func adapter(of vendor: Vendor) -> (any VendorAdapter)? { adapters[vendor] }

    /// The adapter that writes calls to the vendor's real service; nil: the dialect has none.
    func upstream(of vendor: Vendor) -> (any UpstreamAdapter)? { adapters[vendor] as? any UpstreamAdapter }

    /// The written payloads of one notification that serve several targets.
    package struct Shared: Sendable {
        fileprivate struct Key: Hashable {
            var vendor: Vendor
            var platform: Platform
        }

        fileprivate var results: [Key: Result<PushPayload, PayloadProblem>] = [:]

        package init() {}
    }

    /// The payload for `target`. It is written once for all targets of a vendor and platform if the adapter allows this; if the message has another dialect,
    /// also its own adapter (`VendorAdapter.normalized`).
    ///
    /// - Parameters:
    ///   - notification: the content.
    ///   - target: the addressee.
    ///   - settings: the settings of the target's binding.
    ///   - shared: payloads of this notification and these settings only.
    /// - Returns: the payload.
    /// - Throws: `PayloadProblem`.
    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings,
        sharing shared: inout Shared
    ) throws(PayloadProblem) -> PushPayload {
        let vendor = notification.format(for: target)
        guard let adapter = adapters[vendor] else { throw .noAdapter }
        let key = Shared.Key(vendor: vendor, platform: target.destination.platform)
        if target.variant == nil, let result = shared.results[key] { return try result.get() }
        let source = notification.crosses(to: target) ? adapters[notification.origin] : nil
        let result = result(notification, target, settings, adapter, source)
        if !adapter.isPersonal, source?.isPersonal != true, target.variant == nil { shared.results[key] = result }
        return try result.get()
    }

    private func result(
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        _ adapter: any VendorAdapter,
        _ source: (any VendorAdapter)?
    ) -> Result<PushPayload, PayloadProblem> {
        do throws(AdapterError) {
            let (translated, reduced) = try notification.translated(for: target, by: source)
            return .success(try write(adapter, translated, target, settings).losing(reduced))
        } catch {
            return .failure(PayloadProblem(error.code))
        }
    }
}

/// The reason why a payload could not be written. The raw value is the delivery's reason.
package enum PayloadProblem: String, Error, Sendable, Hashable, CaseIterable {
    /// The payload cannot be reduced to the transport's limit.
    case payloadTooLarge
    /// The SDK cannot display the content.
    case payloadInvalid
    /// This build has no adapter for the identity's vendor.
    case noAdapter
    /// The message itself excludes this target.
    case withheld

    init(_ code: AdapterError.Code) {
        switch code {
        case .tooLarge: self = .payloadTooLarge
        case .withheld: self = .withheld
        case .unreadable, .missing, .invalid, .methodNotAllowed, .notFound, .tooManyRequests, .unauthorized, .timedOut:
            self = .payloadInvalid
        }
    }

    /// The state of the delivery. It is not a failure if the sender excluded the target.
    package var state: DeliveryState { self == .withheld ? .suppressed : .failed }
}

/// The gateway's own reasons for a failed or uncertain delivery, in addition to the peer's reasons and `PayloadProblem`.
package enum FailureReason: String, Sendable, Hashable, CaseIterable {
    /// This build has no transport for the device's platform.
    case noTransport
    /// A node ended while a call to an upstream was in flight. The delivery counts as sent, without certainty.
    case interrupted
}
