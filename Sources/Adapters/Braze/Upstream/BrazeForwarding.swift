import HTTPTypes
package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension BrazeAdapter: ForwardingVendor {
    /// The vendor counts events and purchases of `/users/track` each time they arrive, and increases and appends each time, so that such a call is made once or
    /// not at all. The SDK's data may be repeated, because the SDK repeats it too; its other calls are reads.
    package func mayForward(_ request: VendorRequest) -> Bool {
        if let call = SDKCall(path: request) { return call == .data }
        guard request.canonicalPath == BrazeCall.track.rawValue else { return true }
        guard let body = try? request.brazeBody() else { return false }
        guard Self.isEmpty(body["events"]), Self.isEmpty(body["purchases"]) else { return false }
        return (body["attributes"]?.array ?? []).allSatisfy { user in
            (user.object?.pairs ?? []).allSatisfy { !Self.accumulates($0.value) }
        }
    }

    private static func isEmpty(_ list: JSON?) -> Bool { list?.array?.isEmpty ?? (list == nil) }

    /// Whether the value of an attribute is an edit that adds to what the vendor has.
    private static func accumulates(_ value: JSON) -> Bool {
        ["inc", "add", "$add"].contains { value[$0] != nil }
    }

    /// Without the REST key, which older back ends send as `api_key`. In a call of the SDK, `api_key` is the app's identifier, which every copy of the app contains and
    /// the vendor needs.
    package func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest {
        SDKCall(path: request) == nil ? request.without { $0 == "api_key" } : request
    }

    /// The REST key, which back ends send as a bearer. The SDK's key is in the body of its calls.
    package func authorized(_ request: VendorRequest, for upstream: UpstreamSettings) -> VendorRequest {
        guard SDKCall(path: request) == nil, let key = upstream.secrets["restKey"] else { return request }
        var authorized = request
        authorized.headers[.authorization] = "Bearer \(key)"
        return authorized
    }
}
