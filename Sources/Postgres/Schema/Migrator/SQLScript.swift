/// Divides SQL into its statements.
package enum SQLScript {
    /// The statements in their order, without comments and without the semicolons between them. A semicolon in a literal, a quoted name or the body of a function
    /// divides nothing.
    package static func statements(of sql: String) -> [String] {
        var statements: [String] = []
        var statement = ""
        var rest = sql[...]
        func finish() {
            if statement.contains(where: { !$0.isWhitespace }) { statements.append(statement) }
            statement = ""
        }
        while !rest.isEmpty {
            let token = rest[..<end(ofTokenIn: rest)]
            if token == ";" {
                finish()
            } else if !token.hasPrefix("--"), !(statement.isEmpty && token.allSatisfy(\.isWhitespace)) {
                statement += token
            }
            rest = rest[token.endIndex...]
        }
        finish()
        return statements
    }

    /// The end of the comment, literal, name, body or character with which a text begins. A doubled quote is two literals in a row.
    private static func end(ofTokenIn text: Substring) -> Substring.Index {
        if text.hasPrefix("--") { return text.firstIndex(of: "\n") ?? text.endIndex }
        if let quote = text.first, quote == "'" || quote == "\"" {
            let end = text.dropFirst().firstIndex(of: quote)
            return end.map { text.index(after: $0) } ?? text.endIndex
        }
        if text.first == "$", let mark = text.prefixMatch(of: /\$[A-Za-z_]*\$/) {
            let body = text[mark.range.upperBound...]
            return body.firstRange(of: mark.output)?.upperBound ?? text.endIndex
        }
        return text.index(after: text.startIndex)
    }
}
