import HTTPTypes

/// The header fields of a proxied call, in both directions. Pure.
enum ProxyHeaders {
    /// Fields that belong to one connection (RFC 9110, 7.6.1), and those of its predecessor that peers still send.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
    /// The client writes host and length of the request anew. Nobody waits for a `100 Continue`: the body has arrived.
    private static let ofTheRequest: Set<String> = ["host", "content-length", "expect"]
    /// A call that has passed three proxies is refused: two in front of the gateway are common, and a loop through gateways that do not know each other ends soon.
    static let viaLimit = 3

    /// The fields of a request as they leave.
    ///
    /// - Parameters:
    ///   - fields: those that arrived.
    ///   - name: the gateway's name in `Via`.
    /// - Returns: the fields in their order, and `Via`.
    static func request(_ fields: HTTPFields, by name: String) -> HTTPFields {
        let named = connectionFields(fields)
        var kept = HTTPFields()
        for field in fields where !isOfConnection(field, named) && !ofTheRequest.contains(field.name.canonicalName) {
            kept.append(field)
        }
        if let via { kept.append(HTTPField(name: via, value: "1.1 \(name)")) }
        return kept
    }

    /// The fields of an answer as the caller gets them.
    static func answer(_ fields: HTTPFields) -> HTTPFields { endToEnd(fields) }

    /// The fields that are not of one connection. Rules, proofs and `prepare` see a call with these alone: a caller could otherwise show them a field and name it in
    /// `Connection`, so that the upstream does not get it.
    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { hopByHop.contains($0.name.canonicalName) }) else { return fields }
        let named = connectionFields(fields)
        var kept = HTTPFields()
        for field in fields where !isOfConnection(field, named) { kept.append(field) }
        return kept
    }

    /// Whether a call has passed this gateway already, or as many proxies as permitted.
    static func isLoop(_ fields: HTTPFields, by name: String) -> Bool {
        guard let via else { return false }
        let entries = fields[values: via].flatMap { Self.entries($0) }
        if entries.count >= viaLimit { return true }
        // `1.1 name (comment)`
        return entries.contains { entry in
            let words = entry.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.count > 1 && words[1].lowercased() == name.lowercased()
        }
    }

    private static let via = HTTPField.Name("Via")

    /// The names that `Connection` lists. `Via` stays, because a caller could otherwise hide a loop; `Host`, because it says to whom the call is addressed.
    private static func connectionFields(_ fields: HTTPFields) -> Set<String> {
        var named: Set<String> = []
        // The usual value. `Keep-Alive` is a field of the connection, whether it is listed or not.
        for value in fields[values: .connection] where value != "keep-alive" && value != "Keep-Alive" {
            for key in value.split(separator: ",") { named.insert(key.lowercased().filter { $0 != " " && $0 != "\t" }) }
        }
        return named.subtracting(["via", "host"])
    }

    private static func isOfConnection(_ field: HTTPField, _ named: Set<String>) -> Bool {
        hopByHop.contains(field.name.canonicalName) || named.contains(field.name.canonicalName)
    }

    /// The entries of one field, which commas separate, except in comments. A comment that does not end hides nothing: all commas separate then.
    private static func entries(_ value: String) -> [Substring] {
        var depth = 0
        // In a comment, the character after a backslash stands for itself.
        var isQuoted = false
        let found = value.split { character in
            if isQuoted {
                isQuoted = false
                return false
            }
            if depth > 0, character == "\\" { isQuoted = true }
            if character == "(" { depth += 1 }
            if character == ")" { depth = max(0, depth - 1) }
            return character == "," && depth == 0
        }
        let entries: [Substring] = depth == 0 ? found : value.split(separator: ",")
        return entries.filter { !$0.allSatisfy { $0 == " " || $0 == "\t" } }
    }
}
