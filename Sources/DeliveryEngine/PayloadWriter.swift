package import Model

/// Writes the payload of one target, in the dialect of the SDK that will show it.
///
/// A value, made once by the wiring: adapters are pure, so that writing may happen inside a machine.
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

    /// Payloads of one notification that serve several targets, as far as they are written.
    package struct Shared: Sendable {
        fileprivate struct Key: Hashable {
            var vendor: Vendor
            var platform: Platform
        }

        fileprivate var results: [Key: Result<PushPayload, PayloadProblem>] = [:]

        package init() {}
    }

    /// The payload for `target`, or why there is none. Written once for all targets of a vendor and platform where its adapter allows.
    ///
    /// - Parameters:
    ///   - notification: what to show.
    ///   - target: whom it is for.
    ///   - settings: of the target's binding.
    ///   - shared: of this notification and these settings only.
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
        let result = result(notification, target, settings, adapter)
        if !adapter.isPersonal, target.variant == nil { shared.results[key] = result }
        return try result.get()
    }

    private func result(
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        _ adapter: any VendorAdapter
    ) -> Result<PushPayload, PayloadProblem> {
        do throws(AdapterError) {
            return .success(try write(adapter, notification, target, settings))
        } catch {
            return .failure(PayloadProblem(error.code))
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
    /// The message itself says that this target gets nothing.
    case withheld

    fileprivate init(_ code: AdapterError.Code) {
        switch code {
        case .tooLarge: self = .payloadTooLarge
        case .withheld: self = .withheld
        case .unreadable, .missing, .invalid, .methodNotAllowed, .notFound, .tooManyRequests, .unauthorized, .timedOut:
            self = .payloadInvalid
        }
    }

    /// What becomes of the delivery: nobody failed where its sender wanted it so.
    package var state: DeliveryState { self == .withheld ? .suppressed : .failed }
}

/// Reasons of our own for a delivery that failed, beside the peer's and `PayloadProblem`.
package enum FailureReason: String, Sendable, Hashable, CaseIterable {
    /// This build has no transport for the device's platform.
    case noTransport
}
