package import Model
import ObservationStore
import Store

/// Receipts that upstreams report later.
extension CommandHandler {
    /// Records the receipts of messages that the gateway has sent through an upstream. Receipts of other messages, and of devices that are not known, change nothing.
    /// Repeating a call is harmless, because the first receipt counts.
    ///
    /// - Parameters:
    ///   - reports: those of one call. Beyond `CommandLimits.receiptsPerReport` they are left out.
    ///   - upstream: the credential whose vendor reports.
    ///   - dialect: that of the vendor.
    /// - Returns: the number of receipts that were new.
    /// - Throws: `StoreError` when the store cannot answer now. The vendor then repeats its call.
    package func record(
        _ reports: [UpstreamReport],
        of upstream: CredentialKey,
        in dialect: Vendor
    ) async throws(StoreError) -> Int {
        let known = reports.prefix(CommandLimits.receiptsPerReport).filter {
            Storable.isKey($0.reference) && Storable.isKey($0.device.rawValue)
        }
        // Programs before schema 80 have stored the names as the vendor spells them.
        let references = Set(known.flatMap { [$0.reference, MessageReference.stored($0.reference)] }).sorted()
        if references.isEmpty { return 0 }
        let question = StoreRequest(FindCalledMessages(upstream.credential, references))
        let messages = try await run(question, in: upstream.tenant)
        var count = 0
        for report in known {
            let name = MessageReference.stored(report.reference)
            guard let message = messages[name] ?? messages[report.reference] else { continue }
            let receipt = RecordReceipt(
                AppScope(app: message.app, vendor: dialect),
                message.id,
                Reporter(key: report.device),
                report.kind,
                at: ReceiptRules.believed(report.at, now: now)
            )
            if case .recorded = try await run(StoreRequest(receipt), in: upstream.tenant) { count += 1 }
        }
        return count
    }
}
