import ApplePayload
package import Model

extension BrazeAdapter {
    /// The vendor's attachment and its links are keys that only its SDK reads; the caller's own keys stay.
    package func normalized(_ notification: Notification, for target: TargetFacts) throws(AdapterError)
        -> NormalizedContent
    {
        var document = try BrazePayload(notification, to: target).document()
        var lost: Set<String> = []
        if document[BrazePayload.attachmentKey]?["att"] != nil { lost.insert("asset_url") }
        if document["ab_uri"] != nil { lost.insert("custom_uri") }
        if notification.content.data[BrazePayload.priorityKey] != nil { lost.insert("apns_priority") }
        for key in [BrazePayload.attachmentKey, "ab_uri", "ab_use_webview"] { document[key] = nil }
        return NormalizedContent(reading: document, of: notification.content, vendor: vendor, lost: lost)
    }
}
