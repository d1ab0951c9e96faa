import Foundation
package import Model
import Yams

/// Reads YAML into `JSON` and keeps the spelling of scalars: an id that consists of digits is not rewritten.
package enum YAMLTree {
    /// 4 MiB: a provisioning file of ten thousand apps. A larger file is a mistake or an attack on the parser.
    static let sizeLimitBytes = 4 << 20

    /// A file has at most one node per byte. Aliases may repeat 10,000 nodes more: nested ones would multiply without end.
    private static let aliasNodes = 10_000

    /// - Throws: `ProvisioningProblem` with the line of the error.
    package static func parse(_ text: String) throws(ProvisioningProblem) -> JSON {
        guard text.utf8.count <= sizeLimitBytes else {
            throw ProvisioningProblem(path: "", problem: "the file is larger than \(sizeLimitBytes) bytes")
        }
        // Yams compares the keys of a mapping, and a key that repeats a nested alias would take it for ever.
        if hasAliasKey(text) { throw ProvisioningProblem(path: "", problem: "an alias cannot be a key, or in a key") }
        do {
            guard let node = try Yams.compose(yaml: text) else { return .object(JSONObject()) }
            var budget = text.utf8.count + aliasNodes
            return try convert(node, depth: 0, &budget)
        } catch let problem as ProvisioningProblem {
            throw problem
        } catch let error as YamlError {
            throw ProvisioningProblem(path: "", problem: "not YAML: \(error)")
        } catch {
            throw ProvisioningProblem(path: "", problem: "not YAML")
        }
    }

    /// Whether a text with anchors may have a key that is an alias, or a key that is a list or an object. A quoted text that looks like one counts too.
    private static func hasAliasKey(_ text: String) -> Bool {
        guard text.contains("&"), text.contains("*") else { return false }
        return text.contains(/(?:^|[\s,\[{?])\*[^\s,\[\]{}]+\s*:(?:\s|$)/)
            || text.contains(/(?:^|[\s,\[{])\?\s|[\]}]\s*:(?:\s|$)/)
    }

    private static func convert(
        _ node: Node,
        depth: Int,
        _ budget: inout Int
    ) throws(ProvisioningProblem) -> JSON {
        guard depth < 32 else { throw ProvisioningProblem(path: "", problem: "nested deeper than 32") }
        budget -= 1
        guard budget >= 0 else { throw ProvisioningProblem(path: "", problem: "aliases repeat too much of the file") }
        switch node {
        case .scalar(let scalar): return value(of: scalar, node)
        case .sequence(let sequence):
            var out: [JSON] = []
            for element in sequence { out.append(try convert(element, depth: depth + 1, &budget)) }
            return .array(out)
        case .mapping(let mapping):
            var out = JSONObject()
            for (key, value) in mapping {
                guard case .scalar(let name) = key else {
                    throw ProvisioningProblem(path: "", problem: "a key must be plain text")
                }
                guard out[name.string] == nil else {
                    throw ProvisioningProblem(path: name.string, problem: "appears twice\(line(of: key))")
                }
                out[name.string] = try convert(value, depth: depth + 1, &budget)
            }
            return .object(out)
        case .alias:
            throw ProvisioningProblem(path: "", problem: "aliases are not supported")
        }
    }

    private static func value(of scalar: Node.Scalar, _ node: Node) -> JSON {
        // Quoted scalars are always text.
        guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
        if let bool = node.bool { return .bool(bool) }
        if node.null != nil { return .null }
        let text = scalar.string
        // Only numbers in JSON's own spelling are numbers: `0123…` and `1_000` are text.
        if case .number(let spelled)? = try? JSONParser.parse(text) { return .number(spelled) }
        return .string(text)
    }

    private static func line(of node: Node) -> String { node.mark.map { " (line \($0.line))" } ?? "" }
}
