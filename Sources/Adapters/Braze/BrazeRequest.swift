import Model

/// Decodes a call to commands: an SDK call if the binding enables them, a back end's call if its REST key permits it.
struct BrazeRequest {
    private let request: VendorRequest
    private let settings: BindingSettings
    /// Nil: the call comes from a back end.
    private let sdkCall: SDKCall?

    init(_ request: VendorRequest, _ settings: BindingSettings) {
        self.request = request
        self.settings = settings
        sdkCall = SDKCall(path: request)
    }

    /// - Throws: `AdapterError` if the caller may not make the call, or a field is invalid.
    func commands() throws(AdapterError) -> [Command] {
        if let sdkCall { return try commands(of: sdkCall) }
        let call = try BrazeCall(request)
        let hash = try RestKey.hash(request)
        guard BrazeSettings(settings).permits(call, keyHash: hash, from: request.provenAddress) else {
            throw AdapterError(.unauthorized)
        }
        switch call {
        case .track: return try UserTrack(request).commands
        case .export, .delete, .nameAliases, .identify, .merge: return try UserCalls(call, request).commands()
        case .subscriptionSet, .subscriptionsSet, .subscriptionGet, .subscriptionUser:
            return try SubscriptionCalls(call, request).commands()
        default: return try CampaignCalls(call, request).commands()
        }
    }

    /// The commands that follow the first replies.
    ///
    /// - Throws: `AdapterError` if the data that was read does not allow the call.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        if sdkCall != nil {
            // Another call changed the device in the meantime: read it again.
            if replies.contains(.refused(.outdated)) { return [try SDKData(request, settings).question] }
            guard case .registration(.standing(let standing))? = replies.first else { return [] }
            let authentication = SDKAuthentication(SDKSettings(settings))
            guard authentication.failure(request, on: standing) == nil else { throw AdapterError(.unauthorized) }
            return try SDKData(request, settings).commands(after: standing)
        }
        return try CampaignCalls(try BrazeCall(request), request).sequel(to: replies)
    }

    private func commands(of call: SDKCall) throws(AdapterError) -> [Command] {
        let sdk = SDKSettings(settings)
        guard sdk.isEnabled else { throw AdapterError(.unauthorized) }
        if sdk.authentication == .required, SDKAuthentication(sdk).failure(request) != nil {
            throw AdapterError(.unauthorized)
        }
        return call == .other ? [] : [try SDKData(request, settings).question]
    }
}
