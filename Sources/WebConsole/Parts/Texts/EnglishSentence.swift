/// Finds the values in the gateway's English sentences, for pages in another language.
package enum EnglishSentence {
    /// The text between two others; nil if `text` has another form.
    package static func middle(of text: String, _ head: String, _ tail: String) -> String? {
        guard text.hasPrefix(head), text.hasSuffix(tail), text.count >= head.count + tail.count else { return nil }
        return String(text.dropFirst(head.count).dropLast(tail.count))
    }
}
