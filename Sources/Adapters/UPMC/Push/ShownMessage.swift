import Model

/// What a message says to one user, in this dialect's words: the same in its push and in its history.
struct ShownMessage {
    /// What fills the placeholders.
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
    /// `MESSAGE` as it came.
    var source: String { filled(content.data[DataKey.source]?.string ?? content.body) }

    /// A message of another dialect has no number: its id then names it, which receipts take too.
    var number: String { notification.number(for: .upmc) }

    /// Who sent it; a message of another dialect comes from the operator.
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
            // The longest name has six letters.
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

    /// Nil: no placeholder.
    private func value(of name: Substring) -> String? {
        switch name {
        case "CUID": return reader.user?.rawValue ?? AuthKey.guest
        case "CNAME": return reader.variables["CNAME"]?.string ?? reader.name ?? ""
        default:  // any other name may be a numbered one
            guard name.hasPrefix("VAR"), let number = Int(name.dropFirst(3)), (1...10).contains(number) else {
                return nil
            }
            return reader.variables[String(name)]?.string ?? ""
        }
    }
}
