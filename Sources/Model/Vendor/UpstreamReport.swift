/// The receipt of a device that an upstream reports later, for a message that the gateway has sent through it.
package struct UpstreamReport: Sendable, Hashable {
    /// The vendor's name of the message (`UpstreamResult.reference`).
    package var reference: String
    package var device: VendorDeviceKey
    package var kind: ReceiptKind
    /// Nil: the report has no time.
    package var at: Timestamp?

    package init(reference: String, device: VendorDeviceKey, kind: ReceiptKind, at: Timestamp? = nil) {
        self.reference = reference
        self.device = device
        self.kind = kind
        self.at = at
    }
}
