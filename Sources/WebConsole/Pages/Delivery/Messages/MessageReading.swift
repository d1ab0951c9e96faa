package import Model
package import PageParts

/// The calls that read one message or one of its deliveries, and how a message is named.
package enum MessageReading {
    package static func message(_ id: String) -> APICall { Reading.get("message", "messages/\(APICall.segment(id))") }

    package static func delivery(_ message: String, _ target: String) -> APICall {
        let path = "messages/\(APICall.segment(message))/deliveries/\(APICall.segment(target))"
        return Reading.get("delivery", path)
    }

    /// The title or text of a message; its id for an account that does not see content.
    package static func title(_ message: JSON, _ language: Language) -> String {
        if let title = Reading.text(message["title"]) { return title }
        if let body = Reading.text(message["body"]) { return body }
        return "\(MessagesText.untitled(language)) \(Reading.short(message["id"]?.string))"
    }
}
