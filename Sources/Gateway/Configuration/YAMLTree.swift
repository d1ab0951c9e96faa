import Foundation
import Model
import Yams

/// Reads YAML into `JSON` and keeps the spelling of scalars: an id that consists of digits is not rewritten.
enum YAMLTree {
    /// 4 MiB: a provisioning file of ten thousand apps. A larger file is a mistake or an attack on the parser.
    static let sizeLimitBytes = 4 << 20

    /// 1,000 aliases: more than a file written by hand has.
    static let aliasLimit = 1000
    /// 500,000 nodes after the aliases are replaced by what they name. Aliases of aliases multiply: a file of one kilobyte can name a billion nodes, and the
    /// parser copies them before its result can be checked.
    static let expandedNodeLimit = 500_000

    /// - Throws: `ProvisioningProblem` with the line of the error.
    static func parse(_ text: String) throws(ProvisioningProblem) -> JSON {
        guard text.utf8.count <= sizeLimitBytes else {
            throw ProvisioningProblem(path: "", problem: "the file is larger than \(sizeLimitBytes) bytes")
        }
        do {
            try checkAliases(text)
            guard let node = try Yams.compose(yaml: text) else { return .object(JSONObject()) }
            return try convert(node, depth: 0)
        } catch let problem as ProvisioningProblem {
            throw problem
        } catch let error as YamlError {
            throw ProvisioningProblem(path: "", problem: "not YAML: \(error)")
        } catch {
            throw ProvisioningProblem(path: "", problem: "not YAML")
        }
    }

    // MARK: Aliases

    /// Takes the place of the asterisk of an alias. A private character: it has no meaning in YAML.
    private static let mark: Character = "\u{E000}"

    /// Checks how many nodes the aliases of a text stand for, before any alias is resolved.
    ///
    /// The text is read once with another character in the place of each asterisk. An alias is then a plain scalar, so this takes time in proportion to the
    /// text, and the anchors are known. An asterisk that is not an alias only changes the content of a scalar, which is not used.
    private static func checkAliases(_ text: String) throws {
        guard text.utf8.contains(UInt8(ascii: "*")) else { return }
        guard let node = try Yams.compose(yaml: text.replacing("*", with: String(mark))) else { return }
        var count = AliasCount()
        let nodes = try count.nodes(of: node, depth: 0)
        guard count.aliases > 0, nodes > expandedNodeLimit else { return }
        throw ProvisioningProblem(
            path: "",
            problem: "its aliases stand for more than \(expandedNodeLimit) nodes: write the values out"
        )
    }

    /// Counts the aliases of a tree, and the nodes that it would have if they were replaced.
    private struct AliasCount {
        var aliases = 0
        private var sizes: [String: Int] = [:]

        init() {}

        /// At most one more than the limit, so that the sum cannot overflow.
        mutating func nodes(of node: Node, depth: Int) throws(ProvisioningProblem) -> Int {
            guard depth < depthLimit else { throw tooDeep }
            var size = 1
            switch node {
            case .scalar(let scalar):
                if scalar.style == .plain, scalar.string.first == mark {
                    aliases += 1
                    guard aliases <= aliasLimit else {
                        throw ProvisioningProblem(path: "", problem: "has more than \(aliasLimit) aliases")
                    }
                    size = sizes[String(scalar.string.dropFirst())] ?? 1
                }
            case .sequence(let sequence):
                for element in sequence { size += try nodes(of: element, depth: depth + 1) }
            case .mapping(let mapping):
                for (key, value) in mapping {
                    size += try nodes(of: key, depth: depth + 1) + nodes(of: value, depth: depth + 1)
                    size = min(size, expandedNodeLimit + 1)
                }
            case .alias: break  // the text has none
            }
            size = min(size, expandedNodeLimit + 1)
            if let anchor = node.anchor { sizes[anchor.rawValue] = size }
            return size
        }
    }

    private static let depthLimit = 32
    private static let tooDeep = ProvisioningProblem(path: "", problem: "nested deeper than \(depthLimit)")

    private static func convert(_ node: Node, depth: Int) throws(ProvisioningProblem) -> JSON {
        guard depth < depthLimit else { throw tooDeep }
        switch node {
        case .scalar(let scalar): return value(of: scalar, node)
        case .sequence(let sequence):
            var out: [JSON] = []
            for element in sequence { out.append(try convert(element, depth: depth + 1)) }
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
                out[name.string] = try convert(value, depth: depth + 1)
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
