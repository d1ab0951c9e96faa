import HTTPTypes
package import Model

/// Translates iPNS (iPNG): registration, receipts, settings, history and polling of devices, and the send call of back ends.
///
/// The only public facts about this vendor's interface are the names of its library's calls and callbacks (docs/contracts/ipns.md#2.1). Paths, keys and
/// encoding are decisions of docs/contracts/ipns.md. Routing is therefore tolerant, and a binding can map further names found in a trace (`IPNSSettings`).
package struct IPNSAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .ipns }

    /// Every path below the mount reaches the adapter, which determines the operation itself; documented operations have their own names in metrics.
    /// `readReport`; a message counts as received when the app reports, polls or lists it.
    package var reports: Reporting { Reporting(received: .implied, read: .reported) }
    package var routes: [VendorRoute] {
        IPNSCall.allCases.map { operation in
            VendorRoute(
                name: operation.rawValue,
                path: .exact("\(IPNSCall.mount)/\(operation.rawValue)"),
                bodyLimitBytes: operation == .send ? IPNSLimits.senderBodyBytes : IPNSLimits.deviceBodyBytes
            )
        } + [
            VendorRoute(name: "ipns.other", path: .prefix(IPNSCall.mount), bodyLimitBytes: IPNSLimits.deviceBodyBytes)
        ]
    }

    package var senders: SenderForm? { SenderForm() }

    package func userToken(of request: VendorRequest) -> String? {
        if let token = request.header(UserTokenRules.header) { return token }
        let fields = (try? Self.documented(request))?.fields
        return (try? fields?.text(.userToken, limit: UserTokenRules.tokenBytes)).flatMap(\.self)
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        let call = try Self.documented(request)
        guard let app = try call.fields.text(.appID) else {
            throw call.operation == nil ? AdapterError(.notFound) : call.fields.missing(.appID)
        }
        let key = BindingKey(vendor: vendor, kind: "app", value: app, host: request.host)
        // Assumed: devices send no proof; their ids are the capabilities. Only a back end may send (docs/contracts/ipns.md#2.11).
        return (key, call.operation == .send ? .sender : .device)
    }

    /// A value in the body counts instead of one in the query, and may still follow.
    package func earlyKey(of request: VendorRequest) -> BindingKey? {
        request.query == nil ? (try? locate(request))?.0 : nil
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let call = try call(request, settings)
        // If only the mapping identifies the call as `send`, no API key was checked.
        if call.operation == .send, try Self.documented(request).operation != .send {
            throw AdapterError(.unauthorized)
        }
        return try call.commands()
    }

    private func call(_ request: VendorRequest, _ settings: BindingSettings) throws(AdapterError) -> IPNSRequest {
        let settings = IPNSSettings(settings)
        let call = try Self.mapped(request, settings)
        guard let operation = call.operation else { throw AdapterError(.notFound) }
        // If only the mapping identifies the call as `send`, the gateway has not checked its sender.
        if operation == .send, try Self.documented(request).operation != .send { throw AdapterError(.unauthorized) }
        return IPNSRequest(
            operation: operation,
            fields: call.fields,
            settings: settings,
            // Looked up for sends only, because the look-up reads the name of the field.
            idempotencyKey: operation == .send ? request.header("Idempotency-Key") : nil
        )
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        let call = try? Self.mapped(request, IPNSSettings(settings))
        return IPNSResponse(operation: call?.operation, fields: call?.fields).answer(replies)
    }

    /// The request, read with the field names of docs/contracts/ipns.md.
    static func documented(_ request: VendorRequest) throws(AdapterError) -> IPNSReading {
        // As `once`, without code that is generic at run time: a receipt asks three times.
        if let known = request.reading.kept as? KeptReading<IPNSReading> { return try known.result.get() }
        let made = KeptReading(request) { (request) throws(AdapterError) in try IPNSReading(request) }
        request.reading.keep(made)
        return try made.result.get()
    }

    /// The request, read with the binding's names as well.
    static func mapped(
        _ request: VendorRequest,
        _ settings: IPNSSettings
    ) throws(AdapterError) -> IPNSReading {
        if settings.fields.isEmpty, settings.operations.isEmpty { return try documented(request) }
        return try IPNSReading(request, fields: settings.fields, operations: settings.operations)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        IPNSResponse.failure(IPNSError(error))
    }

    package var isPersonal: Bool { false }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        try IPNSPayload(notification, appID: settings[IPNSSettings.appIDKey]?.string).encoded()
    }
}

extension IPNSAdapter: InboxVendor {}

extension IPNSAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] { ["DEVICE_ID": .key, "USER_CN": .user, "PUSH_TOKEN": .token] }
}

extension IPNSAdapter: CaptureNaming {
    package var fieldKinds: [String: FieldKind] {
        ["PUSH_TOKEN": .secret, "USER_TOKEN": .secret, "USER_CN": .personal]
    }
}

/// The fields of a request, and its operation.
struct IPNSReading: Sendable {
    var fields: IPNSFields
    /// Nil: unknown.
    var operation: IPNSCall?

    init(
        _ request: VendorRequest,
        fields names: [String: IPNSFields.Key] = [:],
        operations: [String: IPNSCall] = [:]
    ) throws(AdapterError) {
        fields = try IPNSFields(request, names: names)
        operation = IPNSCall(path: request.path, fields: fields, names: operations)
    }
}
