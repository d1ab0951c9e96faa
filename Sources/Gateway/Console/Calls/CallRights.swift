import Model
package import PageParts

/// Which permission a call of the native API needs, by its method and path. The pages have permissions of their own; this is the second check, which no page can
/// forget.
package enum CallRights {
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the segments below `/v1`, decoded.
    /// - Returns: the permission; nil: no account may make the call.
    package static func permission(_ method: APICall.Method, _ path: [String]) -> Permission? {
        guard let first = path.first else { return nil }
        let reads = method == .get
        return switch first {
        // The answers name people; they are masked for roles that do not see them.
        case "find", "analytics", "queue": .figures
        case "events": .figures
        case "exports": .personal
        case "messages": message(method, path)
        case "devices", "identities": reads ? .figures : .operate
        case "users": .operate
        case "apps": app(method, path)
        case "audit", "posture": .audit
        case "nodes": .platform
        case "keys", "retention": .administer
        case "credentials", "webhooks", "captures", "migrations": .configure
        case "possession": nil
        // A call that this list does not know yet: the strictest permission.
        default: .administer
        }
    }

    private static func message(_ method: APICall.Method, _ path: [String]) -> Permission {
        if method == .get { return .figures }
        if path.count == 1 { return .send }
        return path.last == "approve" ? .administer : .operate
    }

    /// Calls below an app.
    private static func app(_ method: APICall.Method, _ path: [String]) -> Permission {
        let reads = method == .get
        guard path.count > 2 else { return reads ? .figures : .configure }
        return switch path[2] {
        case "audience-size": .figures
        case "groups", "campaigns", "channels", "templates": reads ? .figures : .send
        case "live-activities", "media": .send
        case "users", "consents", "expected-users": reads ? .figures : .operate
        case "imports", "receipts": .operate
        case "bindings", "routes", "migrations", "parity", "sas", "senders": .configure
        default: .administer
        }
    }

    /// The scopes with which the call is made: no more than it needs.
    static func scopes(for permission: Permission) -> KeyScopes {
        switch permission {
        case .figures, .personal: ["read", "content"]
        case .send: ["read", "content", "send", "devices"]
        case .operate: ["read", "content", "send", "devices"]
        case .configure, .administer, .audit, .platform: ["admin"]
        }
    }

    /// The message of which an author may change the delivery if it is the author's own; nil: the call is about no message.
    static func ownMessage(_ path: [String]) -> String? {
        path.count >= 2 && path[0] == "messages" ? path[1] : nil
    }
}
