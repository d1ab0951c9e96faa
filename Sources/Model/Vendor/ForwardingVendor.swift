/// The meaning of an upstream's answer to a forwarded call.
package enum ForwardVerdict: Sendable, Hashable {
    case accepted
    /// The upstream refuses this call, and would refuse it again. The reason is a fixed text, a status or a code.
    case refused(String)
    /// The upstream refuses the credential: no call is made until it works again.
    case credential(String)
    /// Nobody knows whether the call arrived, or it did not. It is made again, not before `after` (nil: the gateway chooses).
    case failed(String, after: Duration?)
    /// The gateway has no room for the call now. Says nothing about the upstream.
    case busy
    /// The call was ended by the shutdown of this node.
    case canceled

    /// The meaning of a status alone: 401 and 403 refuse the credential, 408, 425 and 429 are failures, every other 4xx refuses the call. All others outside 2xx are
    /// failures: a redirect may lead to a page about maintenance.
    package init(status: Int, retryAfter: Duration? = nil) {
        switch status {
        case 200...299, 304: self = .accepted
        case 401, 403: self = .credential("HTTP \(status)")
        case 408, 425, 429: self = .failed("HTTP \(status)", after: retryAfter)
        case 400...499: self = .refused("HTTP \(status)")
        default: self = .failed("HTTP \(status)", after: retryAfter)  // the service, not the call
        }
    }
}

/// A dialect whose calls can be forwarded in another way than by their kind and status alone. Pure.
///
/// Without it, `device`, `user` and `receipt` calls are forwarded, and the status decides.
package protocol ForwardingVendor: VendorAdapter {
    /// Whether the call may be made at the upstream later, and again when its answer was lost: a repetition must change nothing, and the call must contain no
    /// name that only the side knows that answered an earlier one.
    func mayForward(_ request: VendorRequest) -> Bool

    /// The call as it is stored: without the caller's credentials in its query and body. Headers are not stored.
    func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest

    /// The call with the authorization of the credential, because the caller's own was not stored. Applied before `prepare`.
    func authorized(_ request: VendorRequest, for upstream: UpstreamSettings) -> VendorRequest

    /// The meaning of an answer; its body is at most 1 MiB. A longer one is empty here.
    func verdict(of response: VendorResponse) -> ForwardVerdict

    /// Whether the call shows a key that the gateway has issued: the upstream does not know it.
    func showsOwnKey(_ request: VendorRequest, settings: BindingSettings) -> Bool

    /// The call that gets a key of the upstream, if it refused the request for the lack of one; nil: no key would help. Its repetition must be harmless.
    func keyCall(for request: VendorRequest, refusedBy verdict: ForwardVerdict) -> VendorRequest?

    /// The request with the key of the answer to `keyCall`; nil: the answer has none.
    func keyed(_ request: VendorRequest, by answer: VendorResponse) -> VendorRequest?
}

extension ForwardingVendor {
    package func mayForward(_ request: VendorRequest) -> Bool { true }

    package func stored(_ request: VendorRequest, settings: BindingSettings) -> VendorRequest { request }

    package func authorized(_ request: VendorRequest, for upstream: UpstreamSettings) -> VendorRequest { request }

    package func verdict(of response: VendorResponse) -> ForwardVerdict { ForwardVerdict(status: response.status) }

    package func showsOwnKey(_ request: VendorRequest, settings: BindingSettings) -> Bool { false }

    package func keyCall(for request: VendorRequest, refusedBy verdict: ForwardVerdict) -> VendorRequest? { nil }

    package func keyed(_ request: VendorRequest, by answer: VendorResponse) -> VendorRequest? { nil }
}
