package import Model

/// The text of a message, as answers of the native API, the web console and commands show it. `MessageSearchSQL` searches the same texts.
///
/// It is that of the message itself, not of one device: names of translations and placeholders are neither translated nor filled in.
package struct ShownText: Sendable, Hashable {
    package private(set) var title: String?
    package private(set) var body: String

    /// The message's own title and text. Without them, those of the alert in a payload that its back end wrote; of a send that fills templates, its values,
    /// one per line, because the text around them is that of each template.
    package init(_ content: Content) {
        title = content.title
        body = content.body
        guard body.isEmpty, (content.title ?? "").isEmpty, let payload = content.raw?.object else { return }
        guard content.variants == nil else {
            let values = payload.pairs.compactMap { $0.value.lenientString }
            body = values.filter { !$0.isEmpty }.joined(separator: "\n")
            return
        }
        let alert = AppleReading(payload).content
        title = alert.title
        body = alert.body
    }
}
