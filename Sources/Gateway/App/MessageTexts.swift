import ApplePayload
import Model
import Routing

/// Reads what messages of all dialects show, for `duplicateGuard`.
struct MessageTexts: Sendable {
    let adapters: [Vendor: any VendorAdapter]

    /// The digest of a message; nil: it shows no text.
    ///
    /// Templates are filled in for a target without a name and attributes. Where the message excludes such a target, its text counts as it is written.
    func fingerprint(of content: Content, from vendor: Vendor) -> MessageFingerprint? {
        let notification = Notification(
            message: .none,
            origin: vendor,
            content: content,
            sentAt: Timestamp(milliseconds: 0)
        )
        var shown = content
        if let normalized = try? adapters[vendor]?.normalized(notification, for: .unknown(in: "", .native)) {
            shown = normalized.content
        }
        // A payload in Apple's format.
        if shown.body.isEmpty, shown.title == nil, let document = shown.raw?.object {
            shown = NormalizedContent(reading: document, of: shown, vendor: vendor).content
        }
        return MessageFingerprint(of: shown, further: content.raw?.object ?? JSONObject())
    }
}
