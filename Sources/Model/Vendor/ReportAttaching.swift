/// A vendor that reports later to one address, which a call of its API sets. Pure.
package protocol ReportAttaching: ForwardingVendor, UpstreamAdapter {
    /// The call after which the vendor reports to `url` on the messages that leave through the upstream. `verdict` reads its answer. Repeating it changes nothing.
    ///
    /// - Parameters:
    ///   - url: nil: the vendor reports no longer.
    ///   - upstream: the fields of the credential.
    ///   - settings: those of the binding whose messages leave through the upstream.
    ///   - time: the present.
    /// - Returns: the call. It passes through `prepare` when it leaves.
    /// - Throws: `AdapterError(.missing)` with the name of a field of the credential, or of a setting of the binding.
    func attachment(
        to url: String?,
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> VendorRequest
}
