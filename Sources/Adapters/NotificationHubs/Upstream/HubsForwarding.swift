import HTTPTypes
package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension HubsAdapter: ForwardingVendor {
    /// An installation has the app's own ID, so that its calls may be repeated. So may those of a registration whose ID the vendor has drawn: a `PUT` states the whole
    /// registration, and a second `DELETE` finds none. A call for one version of a registration is not forwarded, because each side counts its own.
    ///
    /// The vendor does not know the IDs of the gateway. A registration with one could be the second one of its device there, and the device would be pushed twice.
    package func mayForward(_ request: VendorRequest) -> Bool {
        switch HubPath(request.path)?.call {
        case .installation: return true
        case .registration(let id):
            let version = request.header("If-Match") ?? ""
            return (version.isEmpty || version == "*") && !Registration.isDrawn(id)
        default: return false  // an ID that is not drawn yet, reads and sends
        }
    }

    /// The vendor deletes a registration with `If-Match` only, which is not stored.
    package func authorized(_ request: VendorRequest, for upstream: UpstreamSettings) -> VendorRequest {
        guard request.method == .delete, case .registration = HubPath(request.path)?.call else { return request }
        var authorized = request
        authorized.headers[.ifMatch] = "*"
        return authorized
    }

    /// 403 says that a quota is used up, not that the key is wrong.
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        response.status == 403 ? .failed("HTTP 403", after: nil) : ForwardVerdict(status: response.status)
    }
}
