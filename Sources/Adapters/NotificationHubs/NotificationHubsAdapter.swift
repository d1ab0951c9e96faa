import HTTPTypes
package import Model

/// The translator of Azure Notification Hubs' data plane: installations, registrations, sends and their telemetry, behind shared access signatures.
///
/// Source: docs/contracts/notificationhubs.md, from the vendor's documents, its open SDKs and recordings of the service; undocumented behaviour is marked
/// `Assumed:`. Calls of the data plane that are not supported are answered with 404 in the vendor's format.
package struct NotificationHubsAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .notificationHubs }
    package var routes: [VendorRoute] { HubCall.routes + BackendPath.routes }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof) {
        if let path = try backend(request) {
            // Who it is, the binding's users say.
            let key = BindingKey(vendor: vendor, kind: BackendSettings.keyKind, value: path.prefix, host: request.host)
            return (key, .none)
        }
        let path = try path(of: request)
        let key = BindingKey(
            vendor: vendor,
            kind: HubsSettings.keyKind,
            value: path.hub.lowercased(),
            host: request.host
        )
        return (key, .sharedAccessSignature(request.headers[.authorization] ?? ""))
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let own = HubsSettings(settings)
        if let path = try backend(request) {
            return try BackendRequest(path: path, request: request, settings: own).commands()
        }
        let path = try path(of: request)
        try HubGuard(settings: own, path: path).check(request)
        try APIVersion.check(request)
        switch path.call {
        case .installation(let id): return [try InstallationRequest(id: id, request: request, settings: own).command()]
        case .messages: return try SendRequest(request, settings: own).commands()
        case .batch: return try SendRequest(request, settings: own, kind: .batch).commands()
        case .schedules: return try SendRequest(request, settings: own, kind: .schedule).commands()
        case .message(let text): return [.submission(.report(message: try message(text)))]
        case .schedule(let text): return [.submission(.control(.cancel, message: "\(try message(text))"))]
        case .registrationIDs: return [try RegistrationRequest(id: nil, request: request, settings: own).command()]
        case .registration(let id): return [try RegistrationRequest(id: id, request: request, settings: own).command()]
        case .registrations where request.method == .post:
            return [try RegistrationRequest(id: nil, request: request, settings: own).command()]
        case .registrations: return [try RegistrationList(request, tag: nil).command()]
        case .tagged(let tag): return [try RegistrationList(request, tag: tag).command()]
        case .later: throw AdapterError(.notFound, field: HubText.later)
        }
    }

    package func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
    {
        let own = HubsSettings(settings)
        if let path = BackendPath(request.path) {
            return try BackendRequest(path: path, request: request, settings: own).sequel(to: replies)
        }
        switch HubPath(request.path)?.call {
        case .messages: return try SendRequest(request, settings: own).sequel(to: replies)
        case .schedules: return try SendRequest(request, settings: own, kind: .schedule).sequel(to: replies)
        case .installation(let id) where request.method == .patch:
            return try InstallationRequest(id: id, request: request, settings: own).sequel(to: replies)
        case .registration(let id):
            return try RegistrationRequest(id: id, request: request, settings: own).sequel(to: replies)
        case .registrations where request.method == .post:
            return try RegistrationRequest(id: nil, request: request, settings: own).sequel(to: replies)
        default: return []  // every other call is one step
        }
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        if let path = BackendPath(request.path) {
            return BackendResponse(path: path, request: request).answer(replies, settings: HubsSettings(settings))
        }
        return HubsResponse(request: request).answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        if let path = BackendPath(request.path) {
            return BackendResponse(path: path, request: request).failure(error)
        }
        return HubsResponse(request: request).failure(HubsError(error))
    }

    package var isPersonal: Bool { false }

    package func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings)
        throws(AdapterError) -> PushPayload
    {
        guard target.variant != nil else { return try HubsPayload(notification).encoded() }
        guard let template = TemplatePush(notification, target) else { throw AdapterError(.invalid, field: "template") }
        do throws(TemplateFault) {
            return try HubsPayload(notification).encoded(by: template)
        } catch {
            throw AdapterError(error == .tooLarge ? .tooLarge : .invalid, field: "template")
        }
    }

    private func message(_ text: String) throws(AdapterError) -> MessageID {
        guard let id = HubMessageID.parse(text) else { throw AdapterError(.notFound, field: HubText.noMessage) }
        return id
    }

    /// Nil: a call of the data plane.
    private func backend(_ request: VendorRequest) throws(AdapterError) -> BackendPath? {
        guard let path = BackendPath(request.path) else { return nil }
        guard path.call != .unknown else { throw AdapterError(.notFound) }
        guard path.methods.contains(request.method) else { throw AdapterError(.methodNotAllowed) }
        return path
    }

    private func path(of request: VendorRequest) throws(AdapterError) -> HubPath {
        guard let path = HubPath(request.path) else { throw AdapterError(.notFound) }
        guard path.call.methods.contains(request.method) else { throw AdapterError(.methodNotAllowed) }
        return path
    }
}
