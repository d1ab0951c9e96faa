/// The caller that a vendor's call needs. `locate` declares it, and the gateway enforces it before the call is decoded.
package enum CallerKind: Sendable, Hashable, CaseIterable {
    /// An app on a device. It has no key of the gateway: the ids in the call are its capabilities, and the dialect's own checks follow in `decode`.
    case device
    /// A back end that sends or administers. The gateway itself requires a proof that is the same for all vendors (docs/security.md).
    case sender
    /// A caller with a credential of the dialect, such as a signature by a key of the binding. The adapter checks it in `decode`.
    case credential
}

/// How back ends of a vendor prove that they may send, in addition to the proofs that all vendors accept.
package struct SenderForm: Sendable, Hashable {
    /// The dialect's own key: a secret of the binding that back ends show in a header.
    package struct OwnKey: Sendable, Hashable {
        /// The header, which may also carry an API key of the gateway.
        package var header: String
        /// The name of the secret in `BindingSettings.secrets`, and of the key in the binding.
        package var secret: String

        package init(header: String, secret: String) {
            self.header = header
            self.secret = secret
        }
    }

    /// Nil: the dialect has no key of its own.
    package var ownKey: OwnKey?

    package init(ownKey: OwnKey? = nil) { self.ownKey = ownKey }
}
