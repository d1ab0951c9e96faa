package import Model
package import Store

/// The rules for reports of upstreams, which a vendor sends to an address that it learned by a call.
package enum AttachmentRules {
    /// Writes to the audit that the vendor of an upstream is made to report to a gateway.
    ///
    /// - Parameters:
    ///   - upstream: the credential.
    ///   - address: the gateway's address, without the secret name of the reports; nil: the vendor reports no longer.
    ///   - actor: the author.
    /// - Returns: the request that writes the row.
    package static func begin(
        _ upstream: CredentialID,
        to address: String?,
        by actor: AuditActor
    ) -> StoreRequest<Void> {
        let record = AuditRecord(
            address == nil ? .detach : .attach,
            "credential \(upstream)",
            data: address.map { ["address": .string($0)] }
        )
        return StoreRequest(WriteAudit([record], by: actor)) { (_: Void) in }
    }
}
