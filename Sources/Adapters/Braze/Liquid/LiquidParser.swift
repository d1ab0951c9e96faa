import Model

/// Parses one text of a template. Nested conditions are kept in a list, so the parser does not recurse.
struct LiquidParser {
    private typealias Template = LiquidTemplate

    /// An expression is not supported. The cause is not recorded, because the error message contains the whole expression.
    private struct Misread: Error {}

    /// An `if` without its `endif` so far.
    private struct Choice {
        var branches: [LiquidTemplate.Branch] = []
        var condition: LiquidTemplate.Condition?
        var nodes: [LiquidTemplate.Node] = []
        /// Its position, for the error message if its end is missing.
        var start: Int
    }

    private var lexer: LiquidLexer
    private var open: [Choice] = []
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
            do throws(Misread) {
                count += 1
                guard count <= LiquidLimits.nodeCount else { throw Misread() }
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

    private mutating func tag(_ start: Int) throws(Misread) {
        guard case .word(let name) = try next() else { throw Misread() }
        switch name {
        case "if":
            guard open.count < LiquidLimits.depth else { throw Misread() }
            open.append(Choice(condition: try condition(), start: start))
        case "elsif": try branch(try condition())
        case "else":
            try expect("%}")
            try branch(nil)
        case "endif":
            try expect("%}")
            guard var choice = open.popLast() else { throw Misread() }
            choice.branches.append(LiquidTemplate.Branch(condition: choice.condition, nodes: choice.nodes))
            append(.choice(choice.branches))
        case "assign": try assign()
        case "abort_message": try abort()
        default: throw Misread()
        }
    }

    private mutating func branch(_ condition: LiquidTemplate.Condition?) throws(Misread) {
        // After `else` only `endif` may follow.
        guard var choice = open.popLast(), choice.condition != nil else { throw Misread() }
        choice.branches.append(LiquidTemplate.Branch(condition: choice.condition, nodes: choice.nodes))
        choice.condition = condition
        choice.nodes = []
        open.append(choice)
    }

    private mutating func assign() throws(Misread) {
        guard case .word(let name) = try next(), Self.literals[name] == nil, name != "blank",
            !Self.sources.contains(name)
        else { throw Misread() }
        try expect("=")
        let expression = try expression(end: "%}")
        assigned.insert(name)
        append(.assign(name, expression))
    }

    /// Parses `abort_message` with or without a reason, which is not stored.
    private mutating func abort() throws(Misread) {
        var token = try next()
        if token == .symbol("(") {
            token = try next()
            if case .text = token { token = try next() }
            guard token == .symbol(")") else { throw Misread() }
            token = try next()
        }
        guard token == .symbol("%}") else { throw Misread() }
        append(.abort)
    }

    // MARK: Conditions

    private mutating func condition() throws(Misread) -> LiquidTemplate.Condition {
        var terms: [LiquidTemplate.Term] = []
        var joins: [Bool] = []
        while true {
            guard terms.count < LiquidLimits.chainCount else { throw Misread() }
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
            default: throw Misread()
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
    private mutating func expression(end: String) throws(Misread) -> LiquidTemplate.Expression {
        var expression = LiquidTemplate.Expression(operand: try operand(try next()))
        var token = try next()
        while token == .symbol("|") {
            guard expression.filters.count < LiquidLimits.chainCount, case .word(let name) = try next() else {
                throw Misread()
            }
            var argument: LiquidTemplate.Operand?
            token = try next()
            if token == .symbol(":") {
                argument = try operand(try next())
                token = try next()
            }
            guard let filter = LiquidFilter(name, argument) else { throw Misread() }
            expression.filters.append(filter)
        }
        guard token == .symbol(end) else { throw Misread() }
        return expression
    }

    private mutating func operand(_ token: LiquidLexer.Token) throws(Misread) -> LiquidTemplate.Operand {
        switch token {
        case .name(let name): return .attribute(name)
        case .text(let text): return .literal(.string(text))
        case .number(let text): return .literal(.number(text))
        // Inside tags the vendor also accepts a value in braces.
        case .symbol("{{"):
            let inner = try operand(try plain(try next()))
            try expect("}}")
            return inner
        case .symbol: throw Misread()
        case .word(let word):
            if let literal = Self.literals[word] { return .literal(literal) }
            if word == "blank" { return .blank }
            guard Self.sources.contains(word) else {
                guard assigned.contains(word) else { throw Misread() }
                return .assigned(word)
            }
            try expect(".")
            guard case .name(let name) = try next() else { throw Misread() }
            switch word {
            case "custom_attribute": return .customAttribute(name)
            case "campaign": return .campaign(name)
            default: return .property(name)
            }
        }
    }

    /// Refuses further braces inside a value's braces.
    private func plain(_ token: LiquidLexer.Token) throws(Misread) -> LiquidLexer.Token {
        if token == .symbol("{{") { throw Misread() }
        return token
    }

    private mutating func expect(_ symbol: String) throws(Misread) {
        guard try next() == .symbol(symbol) else { throw Misread() }
    }

    private mutating func next() throws(Misread) -> LiquidLexer.Token {
        do throws(LiquidLexer.Stray) { return try lexer.next() } catch { throw Misread() }
    }
}
