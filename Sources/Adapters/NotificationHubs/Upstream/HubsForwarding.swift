package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension HubsAdapter: ForwardingVendor {
    /// An installation has the app's own ID, so that its calls may be repeated. A registration has an ID of the side that created it: the other side does not
    /// know it, and another `POST` would create another registration.
    package func mayForward(_ request: VendorRequest) -> Bool {
        let parts = request.path.split(separator: "/", maxSplits: 2)
        guard parts.count > 1 else { return false }
        return PercentCoding.decode(parts[1].utf8, plusIsSpace: false)?.lowercased() == "installations"
    }

    /// 403 says that a quota is used up, not that the key is wrong.
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        response.status == 403 ? .failed("HTTP 403", after: nil) : ForwardVerdict(status: response.status)
    }
}
