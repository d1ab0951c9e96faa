import Model

/// Parses one text of a template. Nested conditions are kept in a list, so the parser does not recurse.
struct LiquidParser {
    private typealias Template = LiquidTemplate

    /// An expression is not supported. The cause is not recorded, because the error message contains the whole expression.
    private struct UnsupportedExpression: Error {}

    /// An `if` without its `endif` so far.
    private struct OpenConditional {
        var branches: [LiquidTemplate.Branch] = []
        var condition: LiquidTemplate.Condition?
        var nodes: [LiquidTemplate.Node] = []
        /// Its position, for the error message if its end is missing.
        var start: Int
    }

    private var lexer: LiquidLexer
    private var open: [OpenConditional] = []
    private var top: [LiquidTemplate.Node] = []
    private var assigned: Set<String> = []
    private var count = 0

    init(_ text: String) { lexer = LiquidLexer(text) }

    /// - Throws: `LiquidFault`.
    mutating func nodes() throws(LiquidFault) -> [LiquidTemplate.Node] {
        while !lexer.isAtEnd {
            let literal = lexer.literal()
            if !literal.isEmpty { append(.literal(literal)) }
            guard !lexer.isAtEnd else { break }
            let start = lexer.offset
            do throws(UnsupportedExpression) {
                count += 1
                guard count <= LiquidLimits.nodeCount else { throw UnsupportedExpression() }
                if lexer.take("{{") {
                    append(.output(try expression(end: "}}")))
                } else if lexer.take("{%") {
                    try tag(start)
                }
            } catch {
                throw LiquidFault(expression: lexer.excerpt(from: start))
            }
        }
        if let choice = open.last { throw LiquidFault(expression: lexer.excerpt(from: choice.start)) }
        return top
    }

    private mutating func append(_ node: LiquidTemplate.Node) {
        if open.isEmpty { top.append(node) } else { open[open.count - 1].nodes.append(node) }
    }

    // MARK: Tags

    private mutating func tag(_ start: Int) throws(UnsupportedExpression) {
        guard case .word(let name) = try next() else { throw UnsupportedExpression() }
        switch name {
        case "if":
            guard open.count < LiquidLimits.depth else { throw UnsupportedExpression() }
            open.append(OpenConditional(condition: try condition(), start: start))
        case "elsif": try branch(try condition())
        case "else":
            try expect("%}")
            try branch(nil)
        case "endif":
            try expect("%}")
            guard var choice = open.popLast() else { throw UnsupportedExpression() }
            choice.branches.append(LiquidTemplate.Branch(condition: choice.condition, nodes: choice.nodes))
            append(.choice(choice.branches))
        case "assign": try assign()
        case "abort_message": try abort()
        default: throw UnsupportedExpression()
        }
    }

    private mutating func branch(_ condition: LiquidTemplate.Condition?) throws(UnsupportedExpression) {
        // After `else` only `endif` may follow.
        guard var choice = open.popLast(), choice.condition != nil else { throw UnsupportedExpression() }
        choice.branches.append(LiquidTemplate.Branch(condition: choice.condition, nodes: choice.nodes))
        choice.condition = condition
        choice.nodes = []
        open.append(choice)
    }

    private mutating func assign() throws(UnsupportedExpression) {
        guard case .word(let name) = try next(), Self.literals[name] == nil, name != "blank",
            !Self.sources.contains(name)
        else { throw UnsupportedExpression() }
        try expect("=")
        let expression = try expression(end: "%}")
        assigned.insert(name)
        append(.assign(name, expression))
    }

    /// Parses `abort_message` with or without a reason, which is not stored.
    private mutating func abort() throws(UnsupportedExpression) {
        var token = try next()
        if token == .symbol("(") {
            token = try next()
            if case .text = token { token = try next() }
            guard token == .symbol(")") else { throw UnsupportedExpression() }
            token = try next()
        }
        guard token == .symbol("%}") else { throw UnsupportedExpression() }
        append(.abort)
    }

    // MARK: Conditions

    private mutating func condition() throws(UnsupportedExpression) -> LiquidTemplate.Condition {
        var terms: [LiquidTemplate.Term] = []
        var joins: [Bool] = []
        while true {
            guard terms.count < LiquidLimits.chainCount else { throw UnsupportedExpression() }
            var term = LiquidTemplate.Term(left: try operand(try next()))
            var token = try next()
            if let comparison = Self.comparison(token) {
                term.comparison = (comparison, try operand(try next()))
                token = try next()
            }
            terms.append(term)
            switch token {
            case .symbol("%}"): return LiquidTemplate.Condition(terms: terms, joins: joins)
            case .word("and"): joins.append(true)
            case .word("or"): joins.append(false)
            default: throw UnsupportedExpression()
            }
        }
    }

    private static func comparison(_ token: LiquidLexer.Token) -> LiquidTemplate.Comparison? {
        switch token {
        case .symbol("<>"): .unequal
        case .symbol(let text): LiquidTemplate.Comparison(rawValue: text)
        case .word("contains"): .contains
        case .word, .name, .text, .number: nil
        }
    }

    // MARK: Values

    private static let literals: [String: JSON] = ["true": true, "false": false, "nil": .null, "null": .null]
    private static let sources: Set<String> = ["custom_attribute", "api_trigger_properties", "campaign"]

    /// Parses a value with its filters, up to the end symbol.
    private mutating func expression(end: String) throws(UnsupportedExpression) -> LiquidTemplate.Expression {
        var expression = LiquidTemplate.Expression(operand: try operand(try next()))
        var token = try next()
        while token == .symbol("|") {
            guard expression.filters.count < LiquidLimits.chainCount, case .word(let name) = try next() else {
                throw UnsupportedExpression()
            }
            var argument: LiquidTemplate.Operand?
            token = try next()
            if token == .symbol(":") {
                argument = try operand(try next())
                token = try next()
            }
            guard let filter = LiquidFilter(name, argument) else { throw UnsupportedExpression() }
            expression.filters.append(filter)
        }
        guard token == .symbol(end) else { throw UnsupportedExpression() }
        return expression
    }

    private mutating func operand(_ token: LiquidLexer.Token) throws(UnsupportedExpression) -> LiquidTemplate.Operand {
        switch token {
        case .name(let name): return .attribute(name)
        case .text(let text): return .literal(.string(text))
        case .number(let text): return .literal(.number(text))
        // Inside tags the vendor also accepts a value in braces.
        case .symbol("{{"):
            let inner = try operand(try plain(try next()))
            try expect("}}")
            return inner
        case .symbol: throw UnsupportedExpression()
        case .word(let word):
            if let literal = Self.literals[word] { return .literal(literal) }
            if word == "blank" { return .blank }
            guard Self.sources.contains(word) else {
                guard assigned.contains(word) else { throw UnsupportedExpression() }
                return .assigned(word)
            }
            try expect(".")
            guard case .name(let name) = try next() else { throw UnsupportedExpression() }
            switch word {
            case "custom_attribute": return .customAttribute(name)
            case "campaign": return .campaign(name)
            default: return .property(name)
            }
        }
    }

    /// Refuses further braces inside a value's braces.
    private func plain(_ token: LiquidLexer.Token) throws(UnsupportedExpression) -> LiquidLexer.Token {
        if token == .symbol("{{") { throw UnsupportedExpression() }
        return token
    }

    private mutating func expect(_ symbol: String) throws(UnsupportedExpression) {
        guard try next() == .symbol(symbol) else { throw UnsupportedExpression() }
    }

    private mutating func next() throws(UnsupportedExpression) -> LiquidLexer.Token {
        do throws(LiquidLexer.Stray) { return try lexer.next() } catch { throw UnsupportedExpression() }
    }
}
