import Model

/// The push that a template of an installation makes of a send (docs/contracts/notificationhubs.md#8).
struct TemplatePush {
    private let template: JSONObject
    private let values: TemplateValues

    /// Nil where the installation has no such template.
    init?(_ notification: Notification, _ target: TargetFacts) {
        guard let name = target.variant, let template = target.variables["templates"]?[name]?.object else { return nil }
        self.template = template
        values = TemplateValues(
            send: notification.content.raw?.object ?? JSONObject(),
            installation: target.variables["pushVariables"]?.object ?? JSONObject()
        )
    }

    /// The template's body, filled in.
    ///
    /// - Throws: `TemplateFault`; also where the body is no JSON object.
    func payload() throws(TemplateFault) -> JSONObject {
        guard let text = template["body"]?.string, case .object(let body)? = try? JSONParser.parse(text) else {
            throw .token
        }
        var room = HubsLimits.renderedBytes
        return try filled(body, &room)
    }

    /// A header of the template, filled in; nil: it has none.
    func header(_ name: String) throws(TemplateFault) -> String? {
        let headers = template["headers"]?.object ?? JSONObject()
        if let text = headers.pairs.first(where: { $0.key.lowercased() == name })?.value.string {
            return try TemplateExpression(text).evaluated(with: values).lenientString
        }
        guard name == "apns-priority", let text = template["priority"]?.string else { return nil }
        // Assumed: a registration's priority that is none of Apple's says nothing.
        let priority = try TemplateExpression(text).evaluated(with: values).lenientString
        return ["1", "5", "10"].contains(priority) ? priority : nil
    }

    /// When the push ends as the template says it, a header before its `expiry`; nil: it says nothing. Assumed: nor does one that fills to nothing.
    ///
    /// - Throws: `TemplateFault.date` for what is neither a date nor seconds.
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

    /// As deep as the parser lets JSON be.
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
            // Every occurrence of a value is copied: forty bytes of a template can ask for 64 KB.
            room -= result.lenientString?.utf8.count ?? 0
            guard room >= 0 else { throw .tooLarge }
            return result
        }
    }
}
