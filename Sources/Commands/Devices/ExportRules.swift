package import Model
package import Store

/// The rules for exports of devices, which contain whole tokens.
package enum ExportRules {
    /// Writes the start of an export to the audit.
    package static func begin(_ app: AppID, vendor: String?, by actor: AuditActor) -> StoreRequest<Void> {
        let record = AuditRecord(.export, "app \(app)", data: vendor.map { ["vendor": .string($0)] })
        return StoreRequest(WriteAudit([record], by: actor)) { (_: Void) in }
    }
}
