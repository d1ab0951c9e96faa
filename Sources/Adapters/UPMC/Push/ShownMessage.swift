import Model

/// The parts of a message as one user sees them, in this vendor's terms. They are the same in the push and in the history.
struct ShownMessage {
    /// The values for the placeholders.
    struct Reader {
        var user: UserID?
        var name: String?
        var variables: JSONObject
    }

    let notification: Notification
    let reader: Reader
    let settings: UPMCSettings

    private var content: Content { notification.content }

    var title: String? { content.title.map(filled) }
    var body: String { filled(content.body) }
    /// `MESSAGE` as received.
    var source: String { filled(content.data[DataKey.source]?.string ?? content.body) }

    /// A message of another vendor has no number: its id identifies it, and receipts accept the id too.
    var number: String { notification.number(for: .upmc) }

    /// The sender. A message of another vendor has the operator as its sender.
    var sender: String {
        content.data[DataKey.sender]?.string ?? (notification.origin == .upmc ? "" : "admin")
    }

    var extra: String {
        if let page = content.page, let url = settings.publicURL { return "\(url)/r/\(page.id)/\(page.name)" }
        if let extra = content.data[DataKey.extra]?.string { return filled(extra) }
        guard notification.origin != .upmc, !content.data.isEmpty else { return "" }
        return JSONWriter.text(.object(content.data))
    }

    /// Replaces `%CUID%`, `%CNAME%` and `%VAR1%` to `%VAR10%` by this recipient's values, or by nothing (docs/contracts/upmc.md#1.9.1,
    /// docs/contracts/upmc.md#1.9.3).
    private func filled(_ text: String) -> String {
        guard content.isTemplate, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var out = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "%") {
            out += rest[..<start]
            let inner = rest[rest.index(after: start)...]
            // The longest placeholder name has six characters.
            guard let end = inner.prefix(7).firstIndex(of: "%"), let value = value(of: inner[..<end]) else {
                out.append("%")
                rest = inner
                continue
            }
            out += value
            rest = inner[inner.index(after: end)...]
        }
        return out + rest
    }

    /// Nil: not a placeholder.
    private func value(of name: Substring) -> String? {
        switch name {
        case "CUID": return reader.user?.rawValue ?? AuthKey.guest
        case "CNAME": return reader.variables["CNAME"]?.string ?? reader.name ?? ""
        default:  // other names may be those of numbered variables
            guard name.hasPrefix("VAR"), let number = Int(name.dropFirst(3)), (1...10).contains(number) else {
                return nil
            }
            return reader.variables[String(name)]?.string ?? ""
        }
    }
}
