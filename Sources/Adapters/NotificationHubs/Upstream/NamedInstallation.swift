import Model

/// The targets that a send names.
enum NamedInstallation {
    /// Handles reveal neither installation nor user. An expression of tags is an audience, unless it selects one installation or one user and at most narrows that.
    static func named(in request: VendorRequest) -> NamedTargets {
        guard HubsCallKind.kind(of: request) == .send, BackendPath(request.path) == nil,
            let path = HubPath(request.path)
        else { return .audience }
        if path.call == .batch || request.isDirectSend { return .hidden }
        guard let text = request.header(SendRequest.tagsHeader), let expression = try? TagExpression(text),
            let facts = facts(expression.root)
        else { return .audience }
        return .targets([facts])
    }

    /// Nil: the expression has none of the two tags, several, or one that does not restrict it.
    private static func facts(_ root: TagExpression.Node) -> RolloutFacts? {
        let parts = if case .all(let parts) = root { parts } else { [root] }
        var found: Tag?
        for part in parts {
            if case .tag(let tag) = part, tag.isSystem {
                guard found == nil else { return nil }
                found = tag
            } else if hasSystemTag(part) {
                return nil
            }
        }
        guard let text = found?.text else { return nil }
        if let installation = value(of: "$InstallationId:", in: text) { return RolloutFacts(device: installation) }
        return value(of: "$UserId:", in: text).map { RolloutFacts(user: $0) }
    }

    private static func value(of name: String, in tag: String) -> String? {
        tag.hasPrefix(name) ? String(tag.dropFirst(name.count)) : nil
    }

    /// The recursion is limited by the depth of expressions.
    private static func hasSystemTag(_ node: TagExpression.Node) -> Bool {
        switch node {
        case .tag(let tag): tag.isSystem
        case .not(let inner): hasSystemTag(inner)
        case .all(let parts), .any(let parts): parts.contains(where: hasSystemTag)
        }
    }
}
