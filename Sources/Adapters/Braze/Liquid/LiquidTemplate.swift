import Model

/// A parsed text of a template: literals, values with filters, conditions and assignments.
///
/// The supported part of the language is listed in docs/contracts/braze.md#5.6; a text with anything else is refused at acceptance. Parsing is pure and
/// takes time linear in the length of the text, and rendering has no loops.
struct LiquidTemplate: Hashable {
    /// A value and its filters.
    struct Expression: Hashable {
        var operand: Operand
        var filters: [LiquidFilter] = []
    }

    /// The source of a value.
    enum Operand: Hashable {
        /// `${name}`: a stored attribute of the user.
        case attribute(String)
        /// `custom_attribute.${name}`.
        case customAttribute(String)
        /// `api_trigger_properties.${name}`: a property of the send.
        case property(String)
        /// `campaign.${name}`.
        case campaign(String)
        /// A name that `assign` set earlier in this text.
        case assigned(String)
        case literal(JSON)
        /// Equals null, empty texts and texts of spaces.
        case blank
    }

    enum Comparison: String, Hashable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case more = ">"
        case atMost = "<="
        case atLeast = ">="
        case contains
    }

    /// One term of a condition. Without a comparison it holds if the value is present and not false.
    struct Term: Hashable {
        var left: Operand
        var comparison: (Comparison, Operand)?

        static func == (left: Term, right: Term) -> Bool {
            left.left == right.left && left.comparison?.0 == right.comparison?.0
                && left.comparison?.1 == right.comparison?.1
        }

        func hash(into hasher: inout Hasher) { hasher.combine(left) }
    }

    /// Terms, and the operators that join each to all following terms: the language evaluates conditions from the right.
    struct Condition: Hashable {
        var terms: [Term]
        /// One entry for each term except the last; true: `and`.
        var joins: [Bool]
    }

    struct Branch: Hashable {
        /// Nil: `else`.
        var condition: Condition?
        var nodes: [Node]
    }

    indirect enum Node: Hashable {
        case literal(String)
        case output(Expression)
        case assign(String, Expression)
        /// Takes the first branch whose condition holds.
        case choice([Branch])
        case abort
    }

    let nodes: [Node]

    /// - Throws: `LiquidFault` with the first unsupported expression.
    init(_ text: String) throws(LiquidFault) {
        var parser = LiquidParser(text)
        nodes = try parser.nodes()
    }

    /// Whether the text is more than a literal.
    static func isTemplate(_ text: String) -> Bool { text.contains("{{") || text.contains("{%") }
}
