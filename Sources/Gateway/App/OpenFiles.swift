import GatewayHTTP

/// Decides from the limit of open files how many connections the listeners may have. Pure.
struct OpenFiles: Sendable, Hashable {
    /// 512 files for everything that is not a caller's connection: the database, Apple, webhooks, logs.
    static let reserve = 512
    /// 1,024 files, the usual soft limit. A node with fewer would refuse callers in normal use.
    static let minimum = 1024

    /// Nil: unknown.
    let limit: Int?
    let listeners: Int

    /// The limit that permits all connections of all listeners.
    var wanted: Int { Self.reserve + max(1, listeners) * Listener.connectionLimit }

    /// The connections that each listener may have.
    var connectionsPerListener: Int {
        guard let limit else { return Listener.connectionLimit }
        return min(Listener.connectionLimit, max(1, (limit - Self.reserve) / max(1, listeners)))
    }

    /// Why the node cannot serve, and the remedy.
    var problem: String? {
        guard let limit, limit < Self.minimum else { return nil }
        return "the process may open only \(limit) files, and at least \(Self.minimum) are needed: \(Self.remedy)"
    }

    /// Why the node serves fewer connections than it could, and the remedy.
    var warning: String? {
        guard let limit, problem == nil, limit < wanted else { return nil }
        return
            "the process may open only \(limit) files, so that each listener accepts \(connectionsPerListener) connections "
            + "instead of \(Listener.connectionLimit): \(Self.remedy), to \(wanted) or more"
    }

    private static let remedy =
        "raise the hard limit (LimitNOFILE= in the unit of systemd, --ulimit nofile= of a container, ulimit -Hn)"
}
