import PageParts

/// Finds the fields that a template references and its view lacks. Every section is entered, whether its flag is set or not; so a view with
/// one row checks the fields of all rows.
struct TemplateCheck: Sendable {
    indirect enum Node: Sendable, Hashable {
        case variable(String)
        case section(String, isInverted: Bool, [Node])
        case partial(String)
    }

    private let templates: [String: [Node]]

    /// - Throws: `ConsoleFilesError` for a tag that is not closed, or that this check does not know.
    init(_ sources: [String: String]) throws(ConsoleFilesError) {
        var templates: [String: [Node]] = [:]
        for (name, source) in sources { templates[name] = try Self.nodes(of: source, name) }
        self.templates = templates
    }

    /// The faults of a template with this view: `table: caption is missing`.
    func faults(_ template: String, _ view: View) -> [String] {
        guard let nodes = templates[template] else { return ["\(template): there is not such a template"] }
        return faults(nodes, view, template)
    }

    private func faults(_ nodes: [Node], _ view: View, _ place: String) -> [String] {
        nodes.flatMap { node in
            switch node {
            case .variable(let name): variable(name, view, place)
            case .section(let name, let isInverted, let inner): section(name, isInverted, inner, view, place)
            case .partial(let name):
                templates[name].map { faults($0, view, "\(place) > \(name)") } ?? ["\(place): no template \(name)"]
            }
        }
    }

    private func variable(_ name: String, _ view: View, _ place: String) -> [String] {
        switch name == "." ? view : field(name, of: view) {
        case nil: ["\(place): \(name) is missing"]
        case .text, .markup, .some(.none): []
        case .flag, .list, .fields: ["\(place): \(name) cannot be written"]
        }
    }

    private func section(_ name: String, _ isInverted: Bool, _ inner: [Node], _ view: View, _ place: String) -> [String]
    {
        guard let value = name == "." ? view : field(name, of: view) else { return ["\(place): \(name) is missing"] }
        if isInverted { return faults(inner, view, place) }
        let inside = "\(place).\(name)"
        return switch value {
        case .flag: faults(inner, view, place)
        case .list(let views): views.flatMap { faults(inner, $0, inside) }
        case .text, .markup, .fields: faults(inner, value, inside)
        case .none: []
        }
    }

    private func field(_ name: String, of view: View) -> View? {
        guard case .fields(let fields) = view else { return nil }
        return fields[name]
    }

    // MARK: Reading

    private struct Open {
        var name: String
        var isInverted: Bool
        var nodes: [Node] = []
    }

    private static func nodes(of source: String, _ template: String) throws(ConsoleFilesError) -> [Node] {
        var open = [Open(name: "", isInverted: false)]
        var rest = Substring(source)
        while let start = rest.firstRange(of: "{{") {
            rest = rest[start.upperBound...]
            let isTriple = rest.first == "{"
            guard let end = rest.firstRange(of: isTriple ? "}}}" : "}}") else { throw fault(template, "an open tag") }
            var name = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
            let kind: Character = isTriple ? "{" : name.first ?? " "
            if isTriple || "#^/>&!%".contains(kind) { name = name.dropFirst() }
            let word = name.filter { $0 != " " }
            switch kind {
            case "#", "^": open.append(Open(name: word, isInverted: kind == "^"))
            case "/":
                guard open.count > 1, let closed = open.popLast(), closed.name == word else {
                    throw fault(template, "{{/\(word)}} closes nothing")
                }
                add(.section(closed.name, isInverted: closed.isInverted, closed.nodes), to: &open)
            case ">": add(.partial(word), to: &open)
            case "!", "%": continue
            case "=", "<", "$": throw fault(template, "an unknown tag")
            default: add(.variable(word), to: &open)
            }
        }
        guard open.count == 1, let whole = open.first else { throw fault(template, "an open section") }
        return whole.nodes
    }

    private static func add(_ node: Node, to open: inout [Open]) {
        guard let last = open.indices.last else { return }
        open[last].nodes.append(node)
    }

    private static func fault(_ template: String, _ text: String) -> ConsoleFilesError {
        ConsoleFilesError(description: "the template \(template) has \(text)")
    }
}
