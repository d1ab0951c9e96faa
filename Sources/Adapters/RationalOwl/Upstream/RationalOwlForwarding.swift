package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding).
extension RationalOwlAdapter: ForwardingVendor {
    /// The vendor's library has given the device its `dRId`, so that both sides know it. The gateway's own calls for devices are unknown to the vendor; the ID
    /// of a back end belongs to the side that registered it; a number would be verified by two codes.
    package func mayForward(_ request: VendorRequest) -> Bool {
        switch RationalOwlCall(rawValue: request.route) {
        case .installApp, .unregUser, .notiRead: true
        default: false  // the calls of which the other side does not know a name, reads and sends
        }
    }

    /// Without the token of the user.
    package func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest {
        request.without { $0 == "userToken" }
    }

    /// The code is in the body, below 200. `notiRead` is answered with the text `ok` (docs/contracts/rationalowl.md#5.5).
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        guard response.status == 200 else { return ForwardVerdict(status: response.status) }
        guard let body = (try? JSONParser.parse(response.body))?.object, let code = body["rc"]?.lenientInt else {
            return response.body.elementsEqual("ok".utf8) ? .accepted : .failed("unreadable answer", after: nil)
        }
        switch code {
        // The codes of registrations that exist already.
        case 1, -102, -202, -301: return .accepted
        // With a comment it names the field that is wrong; without one it is a general failure.
        case -1 where body["cmt"]?.string?.isEmpty ?? true: return .failed("rc \(code)", after: nil)
        default: return .refused("rc \(code)")  // the call is wrong, or its subject unknown
        }
    }
}
