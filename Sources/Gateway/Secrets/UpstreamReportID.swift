package import Model

/// The unguessable name under which the vendor of an upstream reports later. Knowledge of it permits reports about messages that were sent through the upstream.
///
/// It is derived from the root secret, so that it is stored nowhere, is the same on all nodes, and no rotation of the master keys changes it. An upstream under another
/// name has another one.
package struct UpstreamReportID: Sendable, Hashable {
    /// 32 lower-case hex digits.
    package let text: String

    package init(_ key: CredentialKey, _ keyRing: KeyRing) {
        let bytes = keyRing.derived("reports of the upstream \(key.tenant)/\(key.credential)")
        text = HexCoding.encode(Array(bytes.prefix(16)))
    }

    package var path: String { "/upstream/\(text)" }
}
