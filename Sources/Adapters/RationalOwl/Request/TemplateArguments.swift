import Model

/// `msg.tArgv`: the values of a template's variables.
///
/// Assumed: three formats, because the vendor publishes none (docs/contracts/rationalowl.md#8.3): an object by name, a list in order of first
/// appearance, or a list of `{"k","v"}`. The last one is converted to the first one.
struct TemplateArguments {
    /// An object of strings by variable, or a list of strings in order.
    let json: JSON

    /// Nil if there are none.
    ///
    /// - Throws: `AdapterError` for another format, or too many arguments.
    init?(_ message: RationalOwlFields) throws(AdapterError) {
        switch message.value("tArgv") {
        case nil: return nil
        case .object(let object):
            try Self.check(object.count, in: message)
            json = try Self.named(object.pairs.map { ($0.key, $0.value) }, in: message)
        case .array(let list):
            try Self.check(list.count, in: message)
            json = try Self.json(of: list, in: message)
        case .some: throw message.invalid("tArgv")
        }
    }

    private static func check(_ count: Int, in message: RationalOwlFields) throws(AdapterError) {
        guard count <= RationalOwlLimits.templateArgumentCount else { throw message.tooMuch("tArgv") }
    }

    private static func json(of list: [JSON], in message: RationalOwlFields) throws(AdapterError) -> JSON {
        guard list.contains(where: { $0.object != nil }) else {
            var values: [JSON] = []
            for value in list { values.append(.string(try text(value, in: message))) }
            return .array(values)
        }
        var pairs: [(String, JSON)] = []
        for entry in list {
            guard let key = entry["k"]?.string, let value = entry["v"] else { throw message.invalid("tArgv") }
            pairs.append((key, value))
        }
        return try named(pairs, in: message)
    }

    private static func named(_ pairs: [(String, JSON)], in message: RationalOwlFields) throws(AdapterError) -> JSON {
        var object = JSONObject()
        for (name, value) in pairs {
            guard !name.isEmpty, isStorable(name) else { throw message.invalid("tArgv") }
            object[name] = .string(try text(value, in: message))
        }
        return .object(object)
    }

    /// One value. It has the limit of the message text, because it must fit in the message.
    private static func text(_ value: JSON, in message: RationalOwlFields) throws(AdapterError) -> String {
        guard let text = value.lenientString, isStorable(text) else { throw message.invalid("tArgv") }
        return text
    }

    private static func isStorable(_ text: String) -> Bool {
        text.utf8.count <= RationalOwlLimits.textRawBytes && !text.hasByte(0)
            && KoreanText.byteCount(text) <= RationalOwlLimits.textBytes
    }
}
