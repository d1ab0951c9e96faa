/// The names that vendors give to messages, as they are stored.
package enum MessageReference {
    /// A UUID in lower case, as the database writes it; any other text as it is. A caller's spelling of a name then finds the message.
    package static func stored(_ text: String) -> String { MessageID(text: text)?.description ?? text }
}
