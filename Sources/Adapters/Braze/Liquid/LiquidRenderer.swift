import Foundation
import Model

/// The values of the expressions of one push.
struct LiquidScope {
    /// The user's stored attributes, including the user's id as `user_id`.
    var attributes = JSONObject()
    /// The properties of the send; those for this user override those for all users.
    var properties = JSONObject()
    var campaign = JSONObject()
    /// The time of rendering; the same in every attempt.
    var now: Timestamp
}

/// Renders the texts of one push, which share its limits.
struct LiquidRenderer {
    private typealias Template = LiquidTemplate

    private let scope: LiquidScope
    private var steps = 0
    private var written = 0
    /// The values that `assign` set in the text that is being rendered.
    private var assigned: [String: JSON] = [:]

    init(_ scope: LiquidScope) { self.scope = scope }

    /// Renders every text in `value`; keys are unchanged.
    ///
    /// - Throws: `LiquidProblem`. A text that `LiquidTemplate` refuses gives `.tooLong`; such texts are refused at acceptance.
    mutating func rendered(_ value: JSON) throws(LiquidProblem) -> JSON {
        switch value {
        case .null, .bool, .number: return value
        case .string(let text): return .string(try rendered(text))
        case .array(let list):
            var rendered: [JSON] = []
            for entry in list { rendered.append(try self.rendered(entry)) }
            return .array(rendered)
        case .object(let object): return .object(try rendered(object))
        }
    }

    mutating func rendered(_ object: JSONObject) throws(LiquidProblem) -> JSONObject {
        var rendered = object
        for (key, value) in object.pairs { rendered[key] = try self.rendered(value) }
        return rendered
    }

    mutating func rendered(_ text: String) throws(LiquidProblem) -> String {
        guard LiquidTemplate.isTemplate(text) else { return text }
        guard let template = try? LiquidTemplate(text) else { throw .tooLong }
        assigned = [:]
        var output = ""
        try write(template.nodes, to: &output)
        return output
    }

    // MARK: Nodes

    private mutating func write(_ nodes: [LiquidTemplate.Node], to output: inout String) throws(LiquidProblem) {
        for node in nodes {
            try spend(1)
            switch node {
            case .literal(let text): try append(text, to: &output)
            case .output(let expression): try append(LiquidValue.text(try value(expression)), to: &output)
            case .assign(let name, let expression): assigned[name] = try value(expression)
            case .abort: throw .aborted
            case .choice(let branches):
                for branch in branches {
                    guard try holds(branch.condition) else { continue }
                    try write(branch.nodes, to: &output)
                    break
                }
            }
        }
    }

    private mutating func append(_ text: String, to output: inout String) throws(LiquidProblem) {
        written += text.utf8.count
        guard written <= LiquidLimits.outputBytes else { throw .tooLong }
        output += text
    }

    private mutating func spend(_ count: Int) throws(LiquidProblem) {
        steps += count
        guard steps <= LiquidLimits.stepCount else { throw .tooLong }
    }

    // MARK: Conditions

    /// Evaluates from the right: `a and b or c` is `a and (b or c)`.
    private mutating func holds(_ condition: LiquidTemplate.Condition?) throws(LiquidProblem) -> Bool {
        guard let condition else { return true }
        var result: Bool?
        for (place, term) in condition.terms.enumerated().reversed() {
            let own = try holds(term)
            guard let later = result else {
                result = own
                continue
            }
            result = condition.joins.indices.contains(place) && condition.joins[place] ? own && later : own || later
        }
        return result ?? false
    }

    private mutating func holds(_ term: LiquidTemplate.Term) throws(LiquidProblem) -> Bool {
        let left = value(term.left)
        guard let (comparison, operand) = term.comparison else { return left != .null && left != .bool(false) }
        let right = value(operand)
        try spend(LiquidValue.cost(left) + LiquidValue.cost(right))
        switch comparison {
        case .equal: return isEqual(left, right, term.left, operand)
        case .unequal: return !isEqual(left, right, term.left, operand)
        case .less: return LiquidValue.isLess(left, right) ?? false
        case .more: return LiquidValue.isLess(right, left) ?? false
        case .atMost: return LiquidValue.isLess(right, left).map { !$0 } ?? false
        case .atLeast: return LiquidValue.isLess(left, right).map { !$0 } ?? false
        case .contains: return LiquidValue.contains(left, right)
        }
    }

    private func isEqual(
        _ left: JSON,
        _ right: JSON,
        _ leftOperand: LiquidTemplate.Operand,
        _ rightOperand: LiquidTemplate.Operand
    ) -> Bool {
        if leftOperand == .blank { return LiquidValue.isBlank(right) }
        if rightOperand == .blank { return LiquidValue.isBlank(left) }
        return LiquidValue.isEqual(left, right)
    }

    // MARK: Values

    /// The value of an operand; null if it is missing.
    private func value(_ operand: LiquidTemplate.Operand) -> JSON {
        switch operand {
        case .attribute(let name), .customAttribute(let name): scope.attributes[name] ?? .null
        case .property(let name): scope.properties[name] ?? .null
        case .campaign(let name): scope.campaign[name] ?? .null
        case .assigned(let name): assigned[name] ?? .null
        case .literal(let value): value
        case .blank: .null
        }
    }

    private mutating func value(_ expression: LiquidTemplate.Expression) throws(LiquidProblem) -> JSON {
        var value = value(expression.operand)
        try spend(LiquidValue.cost(value))
        for filter in expression.filters {
            value = applied(filter, to: value)
            try spend(1 + LiquidValue.cost(value))
        }
        return value
    }

    private func applied(_ filter: LiquidFilter, to value: JSON) -> JSON {
        switch filter {
        case .otherwise(let operand): LiquidValue.isMissing(value) ? self.value(operand) : value
        case .upcase: .string(LiquidValue.text(value).uppercased())
        case .downcase: .string(LiquidValue.text(value).lowercased())
        case .capitalize: .string(LiquidValue.capitalized(LiquidValue.text(value)))
        case .size: LiquidValue.size(value)
        case .plus(let operand): LiquidValue.json(LiquidValue.decimal(value) + LiquidValue.decimal(self.value(operand)))
        case .minus(let operand):
            LiquidValue.json(LiquidValue.decimal(value) - LiquidValue.decimal(self.value(operand)))
        case .date(let format): format.applied(to: value, now: scope.now)
        }
    }
}
