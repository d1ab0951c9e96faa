/// Sentences of the gateway, which are English, are taken apart where a page is in another language.
package enum EnglishSentence {
    /// The text between two others; nil if `text` has another form.
    package static func middle(of text: String, _ head: String, _ tail: String) -> String? {
        guard text.hasPrefix(head), text.hasSuffix(tail), text.count >= head.count + tail.count else { return nil }
        return String(text.dropFirst(head.count).dropLast(tail.count))
    }
}
