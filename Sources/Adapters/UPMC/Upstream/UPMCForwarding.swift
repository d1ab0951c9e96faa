package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension UPMCAdapter: ForwardingVendor {
    /// Keys belong to the side that issued them, and numbers of groups to the side that created the group. A purchase would count twice.
    package func mayForward(_ request: VendorRequest) -> Bool {
        switch UPMCCall(path: request.path) {
        case .registerService, .addService, .registerUser, .registerServiceAndUser, .registerWebServiceAndUser,
            .deleteService, .deleteUser, .setBadge, .alive, .lastSession, .acknowledge, .read:
            true
        default: false  // the calls of which the other side does not know a name, reads and sends
        }
    }

    /// The code is in the body, below 200 (docs/contracts/upmc.md#1.5).
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        guard (200...201).contains(response.status) else { return ForwardVerdict(status: response.status) }
        guard let answer = try? JSONParser.parse(response.body),
            let code = answer["HEADER"]?["RESULT_CODE"]?.lenientString
        else { return .failed("unreadable answer", after: nil) }
        switch code {
        case UPMCCode.success.rawValue: return .accepted
        case UPMCCode.serverError.rawValue, "50300", "4500": return .failed("code \(code.prefix(8))", after: nil)
        // The app was deleted, or the key has expired.
        case UPMCCode.unauthorized.rawValue, UPMCCode.denied.rawValue, "4444":
            return .credential("code \(code.prefix(8))")
        default: return .refused("code \(code.prefix(8))")
        }
    }
}
