import Commands
import HTTPTypes
import Hummingbird
import Model

/// `/v1/apps/{app}/groups/{group}`: named sets of users, whom a message may be for.
extension NativeAPI {
    func group(_ call: Call, _ route: GroupRoute) async throws(Problem) -> Response {
        switch route {
        case .put: return try await putGroup(call)
        case .get: return try await showGroup(call)
        case .delete: return try await deleteGroup(call)
        case .changeMembers: return try await changeMembers(call)
        }
    }

    /// What may be done with a group.
    enum GroupRoute {
        case put, get, delete, changeMembers

        /// Nil where there is nothing of that kind.
        init?(_ method: HTTPRequest.Method, _ rest: ArraySlice<String>) {
            switch (method, rest.first) {
            case (.put, nil): self = .put
            case (.get, nil): self = .get
            case (.delete, nil): self = .delete
            case (.post, "members") where rest.count == 1: self = .changeMembers
            default: return nil
            }
        }
    }

    private func app(_ call: Call) -> AppID { AppID(call.segments[1]) }
    private func name(_ call: Call) -> GroupName { GroupName(call.segments[3]) }

    private func ask(_ command: PreferenceCommand, _ call: Call) async throws(Problem) -> PreferenceReply {
        guard case .preference(let reply) = try await perform(.preference(command), call, app: app(call)) else {
            throw .unavailable(5)
        }
        return reply
    }

    private func facts(_ call: Call) async throws(Problem) -> JSON {
        guard case .group(let facts) = try await ask(.group(name(call)), call) else { throw .unavailable(5) }
        return NativeShapes.group(facts, app: app(call))
    }

    private func putGroup(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        guard case .groupPut(let isNew) = try await ask(.putGroup(name(call)), call) else { throw .unavailable(5) }
        return .json(try await facts(call), status: isNew ? .created : .ok)
    }

    private func showGroup(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        return .json(try await facts(call))
    }

    private func deleteGroup(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        _ = try await ask(.deleteGroup(name(call)), call)
        return Response(status: .noContent)
    }

    private func changeMembers(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        var (fields, _) = try await fields(call)
        let change = GroupChange(
            add: try fields.texts("add", limit: GroupChange.limit).map { UserID($0) },
            remove: try fields.texts("remove", limit: GroupChange.limit).map { UserID($0) }
        )
        try fields.finish()
        guard !change.add.isEmpty || !change.remove.isEmpty else {
            throw .invalid("add", "name somebody to add or to remove")
        }
        guard case .membersChanged(let added, let removed) = try await ask(.changeMembers(name(call), change), call)
        else { throw .unavailable(5) }
        return .json(["added": .int(added), "removed": .int(removed)])
    }
}
