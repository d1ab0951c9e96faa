import Model

/// Checks the texts of a value when a call is accepted.
enum LiquidTexts {
    /// Whether the texts contain a template.
    ///
    /// - Parameters:
    ///   - value: a value of any depth.
    ///   - isRendered: whether templates are allowed there; keys are never rendered.
    /// - Returns: whether there is a template.
    /// - Throws: `AdapterError` that names the first expression that is unsupported, or in a place where templates are not allowed.
    static func read(_ value: JSON, isRendered: Bool) throws(AdapterError) -> Bool {
        switch value {
        case .null, .bool, .number: return false
        case .string(let text): return try read(text, isRendered: isRendered)
        case .array(let list):
            var isTemplate = false
            for entry in list { if try read(entry, isRendered: isRendered) { isTemplate = true } }
            return isTemplate
        case .object(let object):
            var isTemplate = false
            for (key, value) in object.pairs {
                _ = try read(key, isRendered: false)
                if try read(value, isRendered: isRendered) { isTemplate = true }
            }
            return isTemplate
        }
    }

    private static func read(_ text: String, isRendered: Bool) throws(AdapterError) -> Bool {
        guard LiquidTemplate.isTemplate(text) else { return false }
        guard isRendered else { throw refusal(first(of: text)) }
        guard text.utf8.count <= LiquidLimits.sourceBytes else {
            throw AdapterError(.invalid, field: BrazeText.pushTooLong)
        }
        do throws(LiquidFault) {
            _ = try LiquidTemplate(text)
            return true
        } catch {
            throw refusal(error.expression)
        }
    }

    private static func first(of text: String) -> String {
        var lexer = LiquidLexer(text)
        _ = lexer.literal()
        return lexer.excerpt(from: lexer.offset)
    }

    private static func refusal(_ expression: String) -> AdapterError {
        AdapterError(.invalid, field: "The Liquid expression '\(expression)' is not available on this gateway")
    }
}
