import Foundation
import Model

/// A filter that is applied to a value.
enum LiquidFilter: Hashable {
    case otherwise(LiquidTemplate.Operand)
    case upcase, downcase, capitalize, size
    case plus(LiquidTemplate.Operand)
    case minus(LiquidTemplate.Operand)
    case date(LiquidDateFormat)

    /// - Parameters:
    ///   - name: the name as written.
    ///   - argument: nil if there is none.
    ///
    /// Returns nil for an unknown filter, and for an argument that it does not accept.
    init?(_ name: String, _ argument: LiquidTemplate.Operand?) {
        switch (name, argument) {
        case ("default", let value?): self = .otherwise(value)
        case ("upcase", nil): self = .upcase
        case ("downcase", nil): self = .downcase
        case ("capitalize", nil): self = .capitalize
        case ("size", nil): self = .size
        case ("plus", let value?): self = .plus(value)
        case ("minus", let value?): self = .minus(value)
        case ("date", .literal(.string(let text))?):
            guard let format = LiquidDateFormat(text) else { return nil }
            self = .date(format)
        default: return nil
        }
    }
}

/// The rules of the language for values.
enum LiquidValue {
    /// The text of a value in output. Null is an empty text.
    static func text(_ value: JSON) -> String {
        switch value {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text), .string(let text): text
        case .array(let list): list.map(text).joined()
        case .object: JSONWriter.text(value)
        }
    }

    /// The approximate number of bytes that an operation reads.
    static func cost(_ value: JSON) -> Int {
        switch value {
        case .null, .bool: 1
        case .number(let text), .string(let text): text.utf8.count
        case .array, .object: JSONWriter.bytes(value).count
        }
    }

    /// Whether `default` replaces the value.
    static func isMissing(_ value: JSON) -> Bool {
        switch value {
        case .null, .bool(false): true
        case .bool(true), .number: false
        case .string(let text): text.isEmpty
        case .array(let list): list.isEmpty
        case .object(let object): object.isEmpty
        }
    }

    static func isBlank(_ value: JSON) -> Bool {
        if case .string(let text) = value { return text.allSatisfy(\.isWhitespace) }
        return isMissing(value)
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst().lowercased() }

    /// The number of characters of a text, or of elements of a list or object; 0 for other values.
    static func size(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): .int(text.count)
        case .array(let list): .int(list.count)
        case .object(let object): .int(object.count)
        case .null, .bool, .number: 0
        }
    }

    /// The number in a value, also in a text; other values count as 0, as the language defines.
    static func decimal(_ value: JSON) -> Decimal { number(value) ?? 0 }

    /// The number in a value; nil for values that are not numbers.
    static func number(_ value: JSON) -> Decimal? {
        guard let text = value.lenientString, (1...LiquidLimits.numberBytes).contains(text.utf8.count),
            // Foundation parses a prefix; this requires the whole text to be a number.
            case .number(let spelling)? = try? JSONParser.parse(text), let decimal = Decimal(string: spelling),
            decimal.isFinite
        else { return nil }
        return decimal
    }

    /// The result of a calculation; null if it is outside the range of numbers.
    static func json(_ decimal: Decimal) -> JSON { decimal.isFinite ? .number("\(decimal)") : .null }

    /// Compares numbers by value and texts byte by byte; nil for other values.
    static func isLess(_ left: JSON, _ right: JSON) -> Bool? {
        switch (left, right) {
        case (.number, .number):
            guard let left = number(left), let right = number(right) else { return nil }
            return left < right
        case (.string(let left), .string(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
        default: return nil
        }
    }

    static func isEqual(_ left: JSON, _ right: JSON) -> Bool {
        if case (.number, .number) = (left, right), let left = number(left), let right = number(right) {
            return left == right
        }
        return left == right
    }

    /// Whether the text contains the part, or the list the element.
    static func contains(_ whole: JSON, _ part: JSON) -> Bool {
        switch whole {
        case .string(let text): contains(Array(text.utf8), Array(self.text(part).utf8))
        case .array(let list): list.contains { isEqual($0, part) }
        case .null, .bool, .number, .object: false
        }
    }

    /// Takes time linear in both lengths (Knuth, Morris, Pratt).
    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        var borders = [0]
        var length = 0
        for byte in part.dropFirst() {
            while length > 0, part[length] != byte { length = borders[length - 1] }
            if part[length] == byte { length += 1 }
            borders.append(length)
        }
        length = 0
        for byte in text {
            while length > 0, part[length] != byte { length = borders[length - 1] }
            if part[length] == byte { length += 1 }
            if length == part.count { return true }
        }
        return false
    }
}
