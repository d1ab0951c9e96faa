import Model

/// Parses the recipients of a send.
enum RecipientList {
    /// `CUID`: one id, a JSON array, a list without quotes, or the parameter several times (docs/contracts/upmc.md#1.9.1). Each id once, in the given order.
    ///
    /// - Throws: `AdapterError(.missing)` if no user is named, `.invalid` for an invalid id, `.tooLarge` for too many.
    static func users(_ parameters: Parameters) throws(AdapterError) -> [UserID] {
        var names: [String] = []
        for value in parameters.all("CUID") { names += list(value) }
        if names.isEmpty { throw AdapterError(.missing, field: "CUID") }
        guard names.count <= UPMCLimits.recipientCount else { throw AdapterError(.tooLarge, field: "CUID") }
        var seen: Set<String> = []
        var users: [UserID] = []
        for name in names where seen.insert(name).inserted {
            guard name.utf8.count <= UPMCLimits.identifierBytes, !name.hasByte(0) else {
                throw AdapterError(.invalid, field: "CUID")
            }
            users.append(UserID(name))
        }
        return users
    }

    /// The texts of a JSON array, also if it lacks its quotes; any other text is one entry.
    static func list(_ value: String) -> [String] {
        let text = trimmed(value[...])
        guard text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count >= 2 else { return text.isEmpty ? [] : [text] }
        if let array = (try? JSONParser.parse(text))?.array {
            return array.compactMap(\.lenientString).filter { !$0.isEmpty }
        }
        return text.dropFirst().dropLast().split(separator: ",").map { trimmed($0).filter { $0 != "\"" } }
            .filter { !$0.isEmpty }
    }

    /// One row per line: `CUID,CNAME[,VAR1…]`, quoted or not (docs/contracts/upmc.md#1.9.3). If a user has two rows, the first counts.
    ///
    /// - Throws: `AdapterError` for the field `upload_file`.
    static func rows(_ file: [UInt8]) throws(AdapterError) -> [UserVariables] {
        var bytes = file[...]
        // The byte order mark that spreadsheets write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.hasByte(0) else {
            throw AdapterError(.unreadable)
        }
        var rows: [UserVariables] = []
        var seen: Set<String> = []
        for line in text.split(whereSeparator: \.isNewline) {
            let cells = cells(line)
            guard let user = cells.first, !user.isEmpty else { continue }
            guard user.utf8.count <= UPMCLimits.identifierBytes, cells.count <= UPMCLimits.columnCount else {
                throw AdapterError(.invalid, field: "upload_file")
            }
            guard seen.insert(user).inserted else { continue }
            guard rows.count < UPMCLimits.recipientCount else { throw AdapterError(.tooLarge, field: "upload_file") }
            var values = JSONObject()
            for (index, cell) in cells.dropFirst().enumerated() {
                values[index == 0 ? "CNAME" : "VAR\(index)"] = .string(cell)
            }
            rows.append(UserVariables(user: UserID(user), values: values))
        }
        if rows.isEmpty { throw AdapterError(.missing, field: "upload_file") }
        return rows
    }

    /// The cells of one line. A quoted cell may contain commas; a doubled quote is a quote character.
    private static func cells(_ line: Substring) -> [String] {
        var cells: [String] = []
        var cell = ""
        var isQuoted = false
        var rest = line
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"":
                cell.append("\"")
                rest = rest.dropFirst()
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                cells.append(trimmed(cell[...]))
                cell = ""
            default: cell.append(character)  // all other characters are unchanged
            }
        }
        return cells + [trimmed(cell[...])]
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
