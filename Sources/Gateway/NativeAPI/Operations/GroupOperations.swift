import AnswerShapes
import AudienceStore
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/groups`: named sets of users, to which messages can be sent.
enum GroupOperations {
    static let all = [list, create, show, delete, changeMembers, listMembers]

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let vendor = CommonInputs.vendor
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    private static let group = GroupShapes.group

    static let page = AnswerPage("groups", group, next: .text(example: "early birds"))

    static let list = NativeOperation(
        "listGroups",
        .get,
        "/v1/apps/{app}/groups",
        scope: .read,
        "List an app's groups by name.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of groups.")],
        problems: [.notFound],
        NativeAPI.listGroups
    )

    struct GroupInput: InputFields {
        let app = CommonInputs.app
        let group = CommonInputs.group
        let vendor = CommonInputs.vendor
    }

    static let create = NativeOperation(
        "createGroup",
        .put,
        "/v1/apps/{app}/groups/{group}",
        scope: .devices,
        "Create a group unless it exists.",
        input: GroupInput(),
        answers: [
            .json(201, group.schema, "The group was created."),
            .json(200, group.schema, "The group exists already."),
        ],
        problems: [.notFound, .quotaUsedUp],
        NativeAPI.createGroup
    )

    static let show = NativeOperation(
        "showGroup",
        .get,
        "/v1/apps/{app}/groups/{group}",
        scope: .read,
        "Show a group and its exact count of members.",
        input: GroupInput(),
        answers: [.json(group.schema, "The group.")],
        problems: [.notFound],
        NativeAPI.showGroup
    )

    static let delete = NativeOperation(
        "deleteGroup",
        .delete,
        "/v1/apps/{app}/groups/{group}",
        scope: .devices,
        "Delete a group and its memberships. The users stay.",
        input: GroupInput(),
        answers: [.empty("The group is deleted.")],
        problems: [.notFound],
        NativeAPI.deleteGroup
    )

    struct MembersInput: InputFields {
        let app = CommonInputs.app
        let group = CommonInputs.group
        let vendor = CommonInputs.vendor
        let remove = BodyField.optional(
            "remove",
            .list(.user, limit: GroupChange.limit),
            default: [],
            "Users to remove, before users are added."
        )
        let add = BodyField.optional("add", .list(.user, limit: GroupChange.limit), default: [], "Users to add.")
    }

    static let changeMembers = NativeOperation(
        "changeGroupMembers",
        .post,
        "/v1/apps/{app}/groups/{group}/members",
        scope: .devices,
        "Remove users from a group, then add others; at most \(GroupChange.limit) together.",
        input: MembersInput(),
        example: ["add": ["u-1", "u-2"], "remove": ["u-3"]],
        answers: [
            .json(
                JSONSchema.object([
                    ("added", .integer(0...Int64.max).described("Users who were not in the group before."), true),
                    ("removed", .integer(0...Int64.max).described("Users who were in the group before."), true),
                ]).named("ChangedMembers"),
                "The numbers of added and removed users."
            )
        ],
        problems: [.notFound],
        NativeAPI.changeGroupMembers
    )

    struct ListMembersInput: InputFields {
        let app = CommonInputs.app
        let group = CommonInputs.group
        let vendor = CommonInputs.vendor
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
        let format = QueryField.optional(
            "format",
            .word(AnalyticsFormat.self),
            default: .json,
            as: .string(AnalyticsFormat.json.rawValue),
            "`csv`: the page as comma-separated values with a line of names. Its last user is `after` of the next page."
        )
    }

    static let members = AnswerPage("members", GroupShapes.member, next: .text(example: "u-1"))

    static let listMembers = NativeOperation(
        "listGroupMembers",
        .get,
        "/v1/apps/{app}/groups/{group}/members",
        scope: .read,
        "List a group's members by id, with the name and phone of their newest registration.",
        input: ListMembersInput(),
        answers: [.json(members.schema, orCSV: GroupShapes.memberExample, "A page of members.")],
        problems: [.notFound],
        NativeAPI.listGroupMembers
    ).audited(.read)
}

extension NativeAPI {
    private func ask(
        _ command: GroupCommand,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> GroupReply {
        let reply = try await perform(.group(command), caller, app: scope.app, vendor: scope.vendor)
        guard case .group(let reply) = reply else { throw .unavailable(5) }
        return reply
    }

    private func facts(
        _ group: GroupName,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> GroupShapes.Listed {
        guard case .found(let facts) = try await ask(.find(group), caller, scope) else { throw .unavailable(5) }
        return GroupShapes.Listed(facts: facts, app: scope.app)
    }

    func listGroups(_ call: NativeCall<GroupOperations.ListInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let after = try call.after
        let limit = try call.limit
        try await known(scope.app, call.caller)
        let page = try await asked { () async throws(StoreError) in
            try await queries.groups(of: scope, in: call.tenant, after: after.map { GroupName($0) }, limit: limit)
        }
        let shown = page.map { GroupShapes.Listed(facts: $0, app: scope.app) }
        return .json(GroupOperations.page.json(shown, limit: limit) { .string($0.facts.name.rawValue) })
    }

    func createGroup(_ call: NativeCall<GroupOperations.GroupInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let group = try call.group
        guard case .put(let isNew) = try await ask(.put(group), call.caller, scope) else {
            throw .unavailable(5)
        }
        let shown = try await facts(group, call.caller, scope)
        return .json(GroupShapes.group.json(shown), status: isNew ? .created : .ok)
    }

    func showGroup(_ call: NativeCall<GroupOperations.GroupInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        return .json(GroupShapes.group.json(try await facts(try call.group, call.caller, scope)))
    }

    func deleteGroup(_ call: NativeCall<GroupOperations.GroupInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        _ = try await ask(.delete(try call.group), call.caller, scope)
        return Response(status: .noContent)
    }

    func changeGroupMembers(_ call: NativeCall<GroupOperations.MembersInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let change = GroupChange(add: try call.add, remove: try call.remove)
        guard !change.add.isEmpty || !change.remove.isEmpty else {
            throw .invalid("add", "name at least one user in add or remove")
        }
        let command = GroupCommand.changeMembers(try call.group, change)
        guard case .membersChanged(let added, let removed) = try await ask(command, call.caller, scope) else {
            throw .unavailable(5)
        }
        return .json(["added": .int(added), "removed": .int(removed)])
    }

    func listGroupMembers(_ call: NativeCall<GroupOperations.ListMembersInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let group = try call.group
        let after = try call.after
        let limit = try call.limit
        _ = try await facts(group, call.caller, scope)
        let list = ListGroupMembers(scope, group, after: after.map { UserID($0) }, limit: limit)
        let page = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(list) { $0 }, in: call.tenant)
        }
        call.found(page.count)
        guard try call.format == .csv else {
            return .json(GroupOperations.members.json(page, limit: limit) { .string($0.user.rawValue) })
        }
        return AnalyticsShapes.csv(GroupShapes.memberColumns, page.map(GroupShapes.cells), [:])
    }
}
