package import Model

/// The calls that may reach the vendor later (docs/routing.md#forwarding). All that change a device or report a message may: they have the device's own ID.
extension IPNSAdapter: ForwardingVendor {
    /// Without the token of the user, in each spelling that the gateway reads.
    package func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest {
        let names = IPNSSettings(settings).fields
        return request.without { name in
            let folded = IPNSFields.folded(name)
            return (names[folded] ?? IPNSFields.key(ofFolded: folded)) == .userToken
        }
    }

    /// The code is in the body, below 200 (docs/contracts/ipns.md#2.4).
    package func verdict(of response: VendorResponse) -> ForwardVerdict {
        guard response.status == 200 else { return ForwardVerdict(status: response.status) }
        guard let body = (try? JSONParser.parse(response.body))?.object,
            let text = (body["RT"] ?? body["rtCode"])?.lenientString
        else { return .failed("unreadable answer", after: nil) }
        switch IPNSCode(rawValue: text) {
        case .success: return .accepted
        case .failure: return .failed("code \(text)", after: nil)
        // The vendor does not know the app: all its calls would be refused.
        case .unknownApp: return .credential("code \(text)")
        default: return .refused("code \(text.printable(8))")  // the call is wrong, or its subject unknown
        }
    }
}
