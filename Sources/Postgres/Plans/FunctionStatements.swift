/// One statement that PostgreSQL plans: a statement of a store, or one inside of a function.
package struct PlannedStatement: Sendable {
    /// The role that runs it: `gateway_call`, `gateway_engine` or `gateway_owner`.
    package var role: String
    /// The function that contains it; nil for a statement of a store.
    package var function: String?
    package var sql: String
    /// The types of its parameters; `unknown`: PostgreSQL derives the type.
    package var types: [String]
    /// The settings under which it is planned, as name and value.
    package var settings: [String]

    package init(role: String, function: String?, sql: String, types: [String] = [], settings: [String] = []) {
        self.role = role
        self.function = function
        self.sql = sql
        self.types = types
        self.settings = settings
    }
}

/// A function of the schema, as the catalog describes it.
package struct CatalogFunction: Sendable {
    package var name: String
    package var role: String
    package var language: String
    /// The names and types of its parameters.
    package var parameters: [(name: String, type: String)]
    /// The settings of its definition, as name and value.
    package var settings: [String]
    package var body: String
}

/// Reads the statements inside of a function. Variables become parameters. Knows the subset of PL/pgSQL that `Schema/routines` uses.
struct FunctionStatements {
    private let function: CatalogFunction
    /// The types of the columns whose name has the same type in each table.
    private let columns: [String: String]
    private var variables: [String: String]
    private var words: [Word]
    private var place = 0
    private(set) var found: [PlannedStatement] = []

    /// The types of fields of records that are no columns, where PostgreSQL cannot derive them.
    private static let fields = [
        "ids": "uuid[]", "identities": "uuid[]", "devices": "uuid[]", "ways": "text[]", "users": "text[]",
        "moved": "boolean[]", "rest": "uuid[]", "new_tokens": "boolean[]", "clients": "jsonb[]", "numbers": "bigint[]",
        "expand_slice.ids": "uuid[]", "keep_users.consents": "text", "split_slice.targets": "uuid[]",
        "keep_users.said": "text", "split_slice.addresses": "text[]",
        "places": "integer[]", "times": "timestamptz[]", "nexts": "timestamptz[]", "dues": "timestamptz[]",
        "settle_receipts.messages": "uuid[]", "settle_receipts.kinds": "text[]", "expand_paced.numbers": "integer[]",
        "control_message.numbers": "integer[]",
        "register_many.identities": "uuid[]", "register_many.devices": "uuid[]", "assign_users.users": "text[]",
        "forward_calls.keys": "bytea[]", "forward_calls.checked": "boolean[]",
    ]

    struct Word {
        var text: String
        /// The white space before it.
        var gap: String
    }

    init(_ function: CatalogFunction, columns: [String: String]) {
        self.function = function
        self.columns = columns
        variables = ["FOUND": "boolean"]
        // The columns of a result are not variables: where a name is both, the column of the table applies.
        for parameter in function.parameters where parameter.name.contains(/^(?:p|io|o)_/) {
            variables[parameter.name] = parameter.type
        }
        words = Self.words(function.body)
        if function.language == "sql" {
            while place < words.count {
                add(upTo([";"]))
                place += 1
            }
        } else {
            declarations()
            while place < words.count { step() }
        }
    }

    static func words(_ sql: String) -> [Word] {
        let pattern =
            /--[^\n]*|\$q\$(?s:.*?)\$q\$|'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*|[0-9]+(?:\.[0-9]+)?|:=|=>|::|\.\.|\S/
        var end = sql.startIndex
        var words: [Word] = []
        for match in sql.matches(of: pattern) {
            if !match.output.hasPrefix("--") {
                words.append(
                    Word(text: String(match.output), gap: sql[end..<match.range.lowerBound].isEmpty ? "" : " ")
                )
            }
            end = match.range.upperBound
        }
        return words
    }

    private var word: String? { place < words.count ? words[place].text : nil }

    // MARK: Structure

    private mutating func declarations() {
        while let word, word != "BEGIN" {
            if word == "DECLARE" {
                place += 1
                continue
            }
            if word == "#" {
                place += 3
                continue
            }
            let parts = upTo([";", "BEGIN"])
            if self.word == ";" { place += 1 }
            guard let name = parts.first?.text, parts.count > 1 else { continue }
            let assignment = parts.firstIndex { $0.text == ":=" }
            variables[name] = Self.join(parts[1..<(assignment ?? parts.count)])
            if let assignment { add(expression: Array(parts[(assignment + 1)...])) }
        }
    }

    private mutating func step() {
        switch word ?? "" {
        case "BEGIN", "EXCEPTION", "LOOP", "ELSE", ";", "THEN": place += 1
        case "END":
            _ = upTo([";"])
        case "IF", "ELSIF", "WHILE":
            place += 1
            add(expression: upTo(["THEN", "LOOP"]))
        case "WHEN":
            _ = upTo(["THEN"])
        case "FOR", "FOREACH": loop()
        default: statement(upTo([";"]))
        }
    }

    private mutating func loop() {
        let head = upTo(["LOOP"])
        guard let start = head.firstIndex(where: { $0.text == "IN" }) else { return }
        let rest = Array(head[(start + 1)...])
        let name = head[1].text
        if head[0].text == "FOREACH" {
            add(expression: Array(rest.dropFirst()))
        } else if rest.contains(where: { $0.text == ".." }) {
            variables[name] = "integer"
        } else {
            add(rest)
        }
    }

    private mutating func statement(_ words: [Word]) {
        guard let first = words.first?.text else { return }
        let second = words.count > 1 ? words[1].text : ""
        switch first {
        case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH": add(words)
        case "PERFORM": add([Word(text: "SELECT", gap: "")] + words.dropFirst())
        case "RETURN":
            if second == "QUERY" { add(Array(words.dropFirst(2))) } else { add(expression: Array(words.dropFirst())) }
        case "EXIT", "CONTINUE": add(expression: Array(words.dropFirst(2)))
        case "EXECUTE": dynamic(words)
        case "RAISE", "GET", "NULL": break
        default:
            guard let place = words.firstIndex(where: { $0.text == ":=" }) else { return }
            add(expression: Array(words[(place + 1)...]))
        }
    }

    /// A statement whose text is put together at run time: its constant parts, with `true` for the others.
    private mutating func dynamic(_ words: [Word]) {
        let end = words.firstIndex { $0.text == "INTO" || $0.text == "USING" } ?? words.count
        let parts = words[1..<end].map(\.text)
        guard parts.first?.hasPrefix("$q$") == true else { return }
        var text = ""
        var isOpen = false
        for part in parts {
            if part.hasPrefix("$q$") {
                text += part.dropFirst(3).dropLast(3)
                isOpen = false
            } else if !isOpen {
                text += " true "
                isOpen = true
            }
        }
        let using = words.firstIndex { $0.text == "USING" }.map { Array(words[($0 + 1)...]) } ?? []
        let types = using.filter { $0.text != "," }.map { variables[$0.text] ?? "unknown" }
        append(text, types)
    }

    /// The words before one of these, outside of parentheses and of `CASE … END`.
    private mutating func upTo(_ ends: Set<String>) -> [Word] {
        var depth = 0
        var cases = 0
        let start = place
        while let word {
            if depth == 0, cases == 0, ends.contains(word) { break }
            switch word {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "CASE": cases += 1
            case "END": cases = max(0, cases - 1)
            default: break
            }
            place += 1
        }
        return Array(words[start..<place])
    }

    // MARK: Statements

    private mutating func add(expression words: [Word]) {
        guard !words.isEmpty else { return }
        add([Word(text: "SELECT", gap: "")] + words.enumerated().map { $0 == 0 ? Word(text: $1.text, gap: " ") : $1 })
    }

    private mutating func add(_ words: [Word]) {
        let text = Self.join(words)
        guard text.contains(/\bgateway\.[a-z_]+(?!\w|\()/) else { return }
        let kept = Self.withoutTargets(words)
        let aliases = Set(
            Self.join(kept).matches(of: /(?:gateway\.[a-z_]+|\)|unnest|AS) (?:AS )?([a-z][a-z0-9_]*)\b/).map {
                String($0.1)
            }
        )
        var numbers: [String: Int] = [:]
        var types: [String] = []
        var out = ""
        for (index, word) in kept.enumerated() {
            out += word.gap
            let next = index + 1 < kept.count ? kept[index + 1].text : ""
            guard next != "=>", let type = type(of: word.text, besides: aliases) else {
                out += word.text
                continue
            }
            let number = numbers[word.text] ?? types.count + 1
            if numbers.updateValue(number, forKey: word.text) == nil { types.append(type) }
            out += "$\(number)"
        }
        append(out, types)
    }

    private mutating func append(_ sql: String, _ types: [String]) {
        found.append(
            PlannedStatement(
                role: function.role,
                function: function.name,
                sql: sql,
                types: types,
                settings: function.settings
            )
        )
    }

    /// The type of a variable; nil: the word is not one.
    private func type(of word: String, besides aliases: Set<String>) -> String? {
        let parts = word.split(separator: ".").map(String.init)
        guard let first = parts.first, let type = variables[first] else { return nil }
        if parts.count == 1 {
            return type == "record" || type.hasPrefix("gateway.") && !type.hasSuffix("]") ? nil : type
        }
        guard parts.count == 2, !aliases.contains(first) else { return nil }
        return Self.fields["\(function.name).\(parts[1])"] ?? columns[parts[1]] ?? Self.fields[parts[1]] ?? "unknown"
    }

    /// The words without `INTO variables`.
    private static func withoutTargets(_ words: [Word]) -> [Word] {
        var out: [Word] = []
        var depth = 0
        var index = 0
        while index < words.count {
            let text = words[index].text
            if text == "(" { depth += 1 }
            if text == ")" { depth -= 1 }
            if text == "INTO", depth == 0, out.last?.text != "INSERT" {
                index += 1
                while index < words.count {
                    // A variable, and a comma if another one follows.
                    index += 1
                    guard index < words.count, words[index].text == "," else { break }
                    index += 1
                }
                continue
            }
            out.append(words[index])
            index += 1
        }
        return out
    }

    private static func join(_ words: some Sequence<Word>) -> String {
        var out = ""
        for word in words { out += (out.isEmpty ? "" : word.gap) + word.text }
        return out
    }
}
