import Model

/// One text of a template, read: literals, values with filters, conditions and assignments.
///
/// The supported part of the language is listed in docs/contracts/braze.md#5.6; a text with anything else is refused at acceptance. Pure and bounded;
/// a text is read in time linear to its length, and nothing repeats when it is rendered.
struct LiquidTemplate: Hashable {
    /// A value and what is done to it.
    struct Expression: Hashable {
        var operand: Operand
        var filters: [LiquidFilter] = []
    }

    /// Where a value comes from.
    enum Operand: Hashable {
        /// `${name}`: what is kept of the user.
        case attribute(String)
        /// `custom_attribute.${name}`.
        case customAttribute(String)
        /// `api_trigger_properties.${name}`: what the send says.
        case property(String)
        /// `campaign.${name}`.
        case campaign(String)
        /// A name that `assign` gave earlier in this text.
        case assigned(String)
        case literal(JSON)
        /// What equals nothing, empty texts and texts of spaces.
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

    /// One term of a condition; without a comparison it asks whether there is a value that is not false.
    struct Term: Hashable {
        var left: Operand
        var comparison: (Comparison, Operand)?

        static func == (left: Term, right: Term) -> Bool {
            left.left == right.left && left.comparison?.0 == right.comparison?.0
                && left.comparison?.1 == right.comparison?.1
        }

        func hash(into hasher: inout Hasher) { hasher.combine(left) }
    }

    /// Terms with what joins each to all that follow it: the language reads conditions from the right.
    struct Condition: Hashable {
        var terms: [Term]
        /// Parallel to the terms but for the last; true: `and`.
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
        /// The first branch whose condition holds.
        case choice([Branch])
        case abort
    }

    let nodes: [Node]

    /// - Throws: `LiquidFault` with the first expression that is not understood.
    init(_ text: String) throws(LiquidFault) {
        var parser = LiquidParser(text)
        nodes = try parser.nodes()
    }

    /// Whether the text is more than a literal.
    static func isTemplate(_ text: String) -> Bool { text.contains("{{") || text.contains("{%") }
}
