import Model

/// Changes to a user's attributes.
enum AttributeEditing {
    /// The attributes after `changes`, in their order; a fault if one change is impossible, and then none is applied.
    static func apply(_ changes: [AttributeChange], to attributes: JSONObject) -> Result<JSONObject, Fault> {
        var attributes = attributes
        for change in changes {
            guard !change.name.isEmpty, edit(&attributes, change), isBounded(attributes[change.name]) else {
                return .failure(Fault(attribute: change.name))
            }
        }
        guard attributes.count <= CommandLimits.userAttributes,
            Storable.fits(.object(attributes), CommandLimits.userAttributeBytes)
        else { return .failure(Fault(attribute: changes.last?.name ?? "")) }
        return .success(attributes)
    }

    struct Fault: Error, Hashable {
        var attribute: String
    }

    private static func edit(_ attributes: inout JSONObject, _ change: AttributeChange) -> Bool {
        let (name, old) = (change.name, attributes[change.name])
        switch change.edit {
        case .set(let value): attributes[name] = value
        case .first(let value): attributes[name] = old ?? value
        case .latest(let text):
            if old?.string.map({ $0 < text }) ?? true { attributes[name] = .string(text) }
        case .remove: attributes[name] = nil
        case .increase(let step):
            guard let sum = sum(old, step) else { return false }
            attributes[name] = .number(sum)
        case .append(let values):
            guard let list = list(old) else { return false }
            var seen: Set<JSON> = []
            // Of equal values the last one is kept.
            let appended = (list + values).reversed().filter { seen.insert($0).inserted }
            attributes[name] = .array(appended.reversed())
        case .withdraw(let values):
            guard let list = list(old) else { return false }
            if old != nil { attributes[name] = .array(list.filter { !values.contains($0) }) }
        case .merge(let object):
            attributes[name] = .object(merged(old?.object ?? [:], object, depth: 1))
        }
        return true
    }

    private static func list(_ value: JSON?) -> [JSON]? { value == nil ? [] : value?.array }

    private static func sum(_ value: JSON?, _ step: String) -> String? {
        guard case .number(let old) = value ?? .number("0") else { return nil }
        if let left = Int64(old), let right = Int64(step) {
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? nil : String(sum)
        }
        guard let left = Double(old), let right = Double(step), (left + right).isFinite else { return nil }
        return String(left + right)
    }

    private static func merged(_ old: JSONObject, _ new: JSONObject, depth: Int) -> JSONObject {
        var result = old
        for (key, value) in new.pairs {
            switch (result[key], value) {
            case (_, .null): result[key] = nil
            case (.object(let left)?, .object(let right)) where depth < CommandLimits.userAttributeDepth:
                result[key] = .object(merged(left, right, depth: depth + 1))
            default: result[key] = value
            }
        }
        return result
    }

    private static func isBounded(_ value: JSON?, depth: Int = 0) -> Bool {
        guard depth <= CommandLimits.userAttributeDepth else { return false }
        switch value {
        case .array(let list)?:
            return list.count <= CommandLimits.userListCount && list.allSatisfy { isBounded($0, depth: depth + 1) }
        case .object(let object)?: return object.pairs.allSatisfy { isBounded($0.value, depth: depth + 1) }
        case nil, .null?, .bool?, .number?, .string?: return true
        }
    }
}
