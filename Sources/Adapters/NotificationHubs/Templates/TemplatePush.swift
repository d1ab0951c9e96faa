import Model

/// The push that a template of an installation produces for a send (docs/contracts/notificationhubs.md#8).
struct TemplatePush {
    private let template: JSONObject
    private let values: TemplateValues

    /// Nil if the installation has no template with that name.
    init?(_ notification: Notification, _ target: TargetFacts) {
        guard let name = target.variant, let template = target.variables["templates"]?[name]?.object else { return nil }
        self.template = template
        values = TemplateValues(
            send: notification.content.raw?.object ?? JSONObject(),
            installation: target.variables["pushVariables"]?.object ?? JSONObject()
        )
    }

    /// The template's body with its values.
    ///
    /// - Throws: `TemplateFault`, also if the body is not a JSON object.
    func payload() throws(TemplateFault) -> JSONObject {
        guard let text = template["body"]?.string, case .object(let body)? = try? JSONParser.parse(text) else {
            throw .token
        }
        var room = HubsLimits.renderedBytes
        return try filled(body, &room)
    }

    /// A header of the template with its values; nil if it has none.
    func header(_ name: String) throws(TemplateFault) -> String? {
        let headers = template["headers"]?.object ?? JSONObject()
        if let text = headers.pairs.first(where: { $0.key.lowercased() == name })?.value.string {
            return try TemplateExpression(text).evaluated(with: values).lenientString
        }
        guard name == "apns-priority", let text = template["priority"]?.string else { return nil }
        // Assumed: a registration's priority that is not one of Apple's is ignored.
        let priority = try TemplateExpression(text).evaluated(with: values).lenientString
        return ["1", "5", "10"].contains(priority) ? priority : nil
    }

    /// The expiry that the template requests; a header takes precedence over its `expiry`. Nil if it names none. Assumed: an empty result counts as none.
    ///
    /// - Throws: `TemplateFault.date` for a value that is neither a date nor seconds.
    func end() throws(TemplateFault) -> Timestamp? {
        var text = try header("apns-expiration")
        if text?.isEmpty ?? true, let expiry = template["expiry"]?.string {
            text = try TemplateExpression(expiry).evaluated(with: values).lenientString
        }
        guard let text, !text.isEmpty else { return nil }
        guard let end = HubTime.end(text) else { throw .date }
        return end
    }

    private func filled(_ object: JSONObject, _ room: inout Int) throws(TemplateFault) -> JSONObject {
        var filled = JSONObject()
        for (key, value) in object.pairs { filled[key] = try self.filled(value, &room) }
        return filled
    }

    /// The recursion is limited by the maximum depth of the JSON parser.
    private func filled(_ value: JSON, _ room: inout Int) throws(TemplateFault) -> JSON {
        switch value {
        case .null, .bool, .number: return value
        case .object(let object): return .object(try filled(object, &room))
        case .array(let list):
            var filled: [JSON] = []
            for element in list { filled.append(try self.filled(element, &room)) }
            return .array(filled)
        case .string(let text):
            let result = try TemplateExpression(text).evaluated(with: values)
            // Every occurrence of a value is copied: forty bytes of a template can produce 64 KB.
            room -= result.lenientString?.utf8.count ?? 0
            guard room >= 0 else { throw .tooLarge }
            return result
        }
    }
}
