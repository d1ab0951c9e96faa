import HTTPTypes
package import Model

/// Translates the data plane of Azure Notification Hubs (installations, registrations, sends and their telemetry), authorized by shared access signatures.
///
/// Source: docs/contracts/notificationhubs.md, from the vendor's documents, its open SDKs and recordings of the service; undocumented behaviour is marked
/// `Assumed:`. Calls of the data plane that are not supported are answered with 404 in the vendor's format.
package struct HubsAdapter: VendorAdapter {
    package init() {}

    package var vendor: Vendor { .notificationHubs }
    package var routes: [VendorRoute] { HubsCall.routes + BackendPath.routes }
    /// The SDK has no call for it.
    package var reports: Reporting { Reporting(received: .never, read: .never) }

    /// Keys of the hub, or users of the tutorial's back end, are the proof of every call.
    package var senders: SenderForm? { nil }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        if let path = try HubsRequest.backend(request) {
            // The users of the binding determine the caller.
            let key = BindingKey(vendor: vendor, kind: BackendSettings.keyKind, value: path.prefix, host: request.host)
            return (key, .credential)
        }
        let path = try HubsRequest.path(of: request)
        let key = BindingKey(
            vendor: vendor,
            kind: HubsSettings.keyKind,
            value: path.hub.lowercased(),
            host: request.host
        )
        return (key, .credential)
    }

    package func proof(of request: VendorRequest) -> CallProof? {
        guard let text = request.headers[.authorization] else { return nil }
        if let path = BackendPath(request.path) {
            return BackendUser.shownName(text).map {
                CallProof(text, keyName: "\(path.prefix)/\($0.lowercased())")
            }
        }
        // An expired signature was made with a key once. Devices show it until they have a new one, which must not make others at their address wait.
        guard let shown = try? SharedAccessSignature(text),
            shown.expiry + HubsLimits.expiryLeeway >= request.receivedAt
        else { return nil }
        return CallProof(text, keyName: shown.keyName, isGuessable: false)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        try HubsRequest(request, settings).commands()
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        if let path = BackendPath(request.path) {
            return BackendResponse(path: path, request: request).answer(replies, settings: HubsSettings(settings))
        }
        return HubsResponse(request: request, settings: HubsSettings(settings)).answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        if let path = BackendPath(request.path) {
            return BackendResponse(path: path, request: request).failure(error)
        }
        return HubsResponse(request: request, settings: HubsSettings(settings)).failure(HubsError(error))
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
}

extension HubsAdapter: MultiStepVendor {
    package func sequel(to replies: [Reply], of request: VendorRequest, settings: BindingSettings) throws(AdapterError)
        -> [Command]
    {
        try HubsRequest(request, settings).sequel(to: replies)
    }
}

extension HubsAdapter: DeviceTokenIssuing {
    package func deviceToken(for grant: DeviceGrant, settings: BindingSettings) throws(AdapterError) -> String {
        let settings = HubsSettings(settings)
        // A `#` would end the path of the signed resource, and the token would be valid for other installations.
        guard Installation.isIdentifier(grant.device), !grant.device.contains("#") else {
            throw AdapterError(.invalid, field: "device")
        }
        if let user = grant.user, !Installation.isIdentifier(user) { throw AdapterError(.invalid, field: "user") }
        guard !VendorRequest.bareHost(grant.host).isEmpty else { throw AdapterError(.invalid, field: "host") }
        guard let hub = settings.hub, let rule = settings.signingRule else { throw AdapterError(.notFound) }
        return SharedAccessSignature.header(for: grant, hub: hub, rule: rule.name, key: rule.key)
    }
}

extension HubsAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] {
        ["installationId": .key, "pushChannel": .token, "userId": .user]
    }
}
