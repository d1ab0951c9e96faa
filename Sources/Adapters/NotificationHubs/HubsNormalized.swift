import ApplePayload
package import Model

extension HubsAdapter {
    /// The headers of the send are for the push service. A send by template has no payload outside of this dialect.
    package func normalized(_ notification: Notification, for target: TargetFacts) throws(AdapterError)
        -> NormalizedContent
    {
        let content = notification.content
        guard content.variants == nil else { throw AdapterError(.withheld, field: "template") }
        guard let document = content.raw?.object else {
            var shown = content
            // Only the app of the tutorials shows the text of a rich push, with the image that it fetches.
            if content.isSilent { shown.body = "" }
            return NormalizedContent(shown)
        }
        let lost: Set<String> = HubsPayload.hasOwnHeaders(content) ? ["headers"] : []
        return NormalizedContent(reading: document, of: content, vendor: vendor, lost: lost)
    }
}
