/// A recursive-descent parser of tag expressions. The depth is limited before each recursion.
struct TagParser {
    private let text: [Unicode.Scalar]
    private let limits: TagExpression.Limits
    private var offset = 0
    private var depth = 0
    private(set) var tagCount = 0
    /// Whether only `||` joins the tags.
    private(set) var isUnion = true

    init(_ text: String, limits: TagExpression.Limits) throws(TagExpression.Fault) {
        self.text = text.utf8.count <= limits.bytes ? Array(text.unicodeScalars) : []
        self.limits = limits
        guard text.utf8.count <= limits.bytes else { throw fault(.tooLong) }
        guard !self.text.allSatisfy(Self.isSpace) else { throw fault(.empty) }
    }

    /// Parses the whole text.
    mutating func expression() throws(TagExpression.Fault) -> TagExpression.Node {
        let node = try union()
        skipSpace()
        guard offset == text.count else { throw fault(isKnown(text[offset]) ? .syntax : .character) }
        return node
    }

    private mutating func union() throws(TagExpression.Fault) -> TagExpression.Node {
        var parts = [try intersection()]
        while take("||") { parts.append(try intersection()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func intersection() throws(TagExpression.Fault) -> TagExpression.Node {
        var parts = [try unary()]
        while take("&&") {
            isUnion = false
            parts.append(try unary())
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func unary() throws(TagExpression.Fault) -> TagExpression.Node {
        guard depth < limits.depth else { throw fault(.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        if take("!") {
            isUnion = false
            return .not(try unary())
        }
        guard take("(") else { return .tag(try tag()) }
        let inner = try union()
        guard take(")") else { throw fault(.syntax) }
        return inner
    }

    private mutating func tag() throws(TagExpression.Fault) -> Tag {
        skipSpace()
        let start = offset
        let isSystem = offset < text.count && text[offset] == "$"
        while offset < text.count, Tag.isPlain(text[offset]) || isSystem && "${}=".unicodeScalars.contains(text[offset])
        {
            offset += 1
        }
        guard offset > start else {
            throw fault(offset < text.count && !isKnown(text[offset]) ? .character : .syntax)
        }
        guard let tag = Tag(String(String.UnicodeScalarView(text[start..<offset]))) else {
            throw fault(.character, at: start)
        }
        tagCount += 1
        return tag
    }

    private mutating func take(_ word: String) -> Bool {
        skipSpace()
        guard text[offset...].starts(with: word.unicodeScalars) else { return false }
        offset += word.unicodeScalars.count
        return true
    }

    private mutating func skipSpace() {
        while offset < text.count, Self.isSpace(text[offset]) { offset += 1 }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { " \t\r\n".unicodeScalars.contains(scalar) }

    private func isKnown(_ scalar: Unicode.Scalar) -> Bool {
        Tag.isPlain(scalar) || Self.isSpace(scalar) || "&|!()${}=".unicodeScalars.contains(scalar)
    }

    private func fault(_ code: TagExpression.Fault.Code, at place: Int? = nil) -> TagExpression.Fault {
        TagExpression.Fault(code: code, offset: place ?? offset)
    }
}
