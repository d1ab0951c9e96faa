import HTTPTypes
package import Model

/// The translator of iPNS (iPNG): registration, receipts, settings, history and polling of devices, and the send call of back ends.
///
/// Of this vendor's wire nothing is public but the names of its library's calls and callbacks (contract §2.1): paths, keys and encoding are decisions of
/// the contract `protocols/ipns.md`. So the front door is tolerant, and its names can be mapped per binding (`IPNSSettings`) once a trace shows others.
package struct IPNSAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .ipns }

    /// Every path below the mount reaches the adapter, which finds the operation itself; the documented ones have their own names in metrics.
    package var routes: [VendorRoute] {
        Operation.allCases.map { operation in
            VendorRoute(
                name: operation.rawValue,
                path: .exact("\(Operation.mount)/\(operation.rawValue)"),
                bodyLimitBytes: operation == .send ? IPNSLimits.senderBodyBytes : IPNSLimits.deviceBodyBytes
            )
        } + [
            VendorRoute(name: "ipns.other", path: .prefix(Operation.mount), bodyLimitBytes: IPNSLimits.deviceBodyBytes)
        ]
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) {
        let fields = try Fields(request)
        let operation = Operation(path: request.path, fields: fields)
        guard let app = try fields.text(.appID) else {
            throw operation == nil ? AdapterError(.notFound) : fields.missing(.appID)
        }
        let key = BindingKey(vendor: vendor, kind: "app", value: app, host: Self.host(of: request))
        // Assumed: devices prove nothing, their ids are the capabilities. Sending is a back end's, and needs an API key (contract, Decisions).
        guard operation == .send else { return (key, .none) }
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("bearer ") else {
            throw AdapterError(.unauthorized)
        }
        return (key, .bearer(String(header.dropFirst("bearer ".count))))
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let settings = IPNSSettings(settings)
        let fields = try Fields(request, names: settings.fields)
        let found = Operation(path: request.path, fields: fields, names: settings.operations)
        guard let operation = found else { throw AdapterError(.notFound) }
        // What only the mapping calls `send` has shown no key.
        if operation == .send, Operation(path: request.path, fields: try Fields(request)) != .send {
            throw AdapterError(.unauthorized)
        }
        return try IPNSRequest(
            operation: operation,
            fields: fields,
            settings: settings,
            idempotencyKey: request.header("Idempotency-Key")
        ).commands()
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        let own = IPNSSettings(settings)
        let operation = (try? Fields(request, names: own.fields)).flatMap {
            Operation(path: request.path, fields: $0, names: own.operations)
        }
        return IPNSResponse(operation: operation).answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        IPNSResponse.failure(IPNSError(error))
    }

    package var isPersonal: Bool { false }
    package var keepsInbox: Bool { true }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        try IPNSPayload(notification, appID: settings[IPNSSettings.appIDKey]?.string).encoded()
    }

    /// The host the call was addressed to, as a binding spells it: lower-case, without port.
    private static func host(of request: VendorRequest) -> String? {
        guard let host = request.header("Host"), !host.isEmpty else { return nil }
        // An IPv6 literal keeps its brackets: its colons are no port.
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        return name.lowercased()
    }
}

extension VendorRequest {
    /// A header by name. HTTPTypes has no constant for `Host`; the mount gives it back as the field it was.
    fileprivate func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}
