import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/users/{user}`, `/v1/apps/{app}/users` and `/v1/apps/{app}/consents`: facts about users in addition to their devices.
enum UserOperations {
    static let all = [list, show, update, erase, changeConsents, showConsents]

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let vendor = CommonInputs.vendor
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("users", UserShapes.listed, next: .text(example: "u-1"))

    static let list = NativeOperation(
        "listUsers",
        .get,
        "/v1/apps/{app}/users",
        scope: .read,
        "List an app's users by id: those with a registration, and those with attributes or consents.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of users.")],
        problems: [.notFound],
        NativeAPI.listUsers
    ).audited(.read)

    struct UserInput: InputFields {
        let app = CommonInputs.app
        let user = CommonInputs.user
        let vendor = CommonInputs.vendor
    }

    static let show = NativeOperation(
        "showUser",
        .get,
        "/v1/apps/{app}/users/{user}",
        scope: .read,
        "Show a user: attributes, consents, aliases, activities and devices.",
        input: UserInput(),
        answers: [.json(UserShapes.user.schema, "The user.")],
        problems: [.notFound],
        NativeAPI.showUser
    ).audited(.read)

    struct UpdateInput: InputFields {
        let app = CommonInputs.app
        let user = CommonInputs.user
        let vendor = CommonInputs.vendor
        let attributes = BodyField.optional(
            "attributes",
            .anyObject,
            "Attributes to set; the value null removes an attribute."
        )
        let acceptsPush = BodyField.optional(
            "acceptsPush",
            .flag,
            "Whether pushes are sent to the user's devices; null: unchanged."
        )
    }

    static let update = NativeOperation(
        "updateUser",
        .patch,
        "/v1/apps/{app}/users/{user}",
        scope: .devices,
        "Change a user's attributes and push preference. An unknown user is created.",
        input: UpdateInput(),
        example: ["attributes": ["plan": "gold", "trial": .null]],
        answers: [.json(UserShapes.user.schema, "The user.")],
        problems: [.notFound, .conflict, .rateLimited],
        NativeAPI.updateUser
    )

    struct EraseInput: InputFields {
        let user = CommonInputs.user
        let once = CommonInputs.repeatKey
    }

    static let erase = NativeOperation(
        "eraseUser",
        .delete,
        "/v1/users/{user}",
        scope: .devices,
        "Erase a user in every app: devices, identities, groups, attributes and consents. Writes an audit entry.",
        input: EraseInput(),
        answers: [
            .json(
                JSONSchema.object([("erased", .integer(0...Int64.max).described("Erased identities."), true)])
                    .named("ErasedUser"),
                "The number of erased identities; 0: the user was unknown."
            )
        ],
        NativeAPI.eraseUser
    ).audited(.act)

    struct ConsentsInput: InputFields {
        let app = CommonInputs.app
        let vendor = CommonInputs.vendor
        let subject = BodyField.required(
            "subject",
            .text(CommandLimits.keyBytes, atLeast: 1).example("news"),
            "The subject of the consent."
        )
        let state = BodyField.required("state", .word(ConsentState.self), "The users' decision.")
        let users = BodyField.required(
            "users",
            .list(.user, limit: CommandLimits.usersPerCall),
            "The users. An unknown user is created."
        )
    }

    static let changeConsents = NativeOperation(
        "changeConsents",
        .post,
        "/v1/apps/{app}/consents",
        scope: .devices,
        "Record whether users consent to a subject.",
        input: ConsentsInput(),
        answers: [
            .json(
                JSONSchema.object([("changed", .integer(0...Int64.max).described("Users whose consent changed."), true)]
                )
                .named("ChangedConsents"),
                "The number of changed users."
            )
        ],
        problems: [.notFound, .rateLimited],
        NativeAPI.changeConsents
    )

    static let showConsents = NativeOperation(
        "showConsents",
        .get,
        "/v1/apps/{app}/consents/{user}",
        scope: .read,
        "Show a user's consents.",
        input: UserInput(),
        answers: [.json(UserShapes.consentsOfUser.schema, "The user's consents.")],
        problems: [.notFound],
        NativeAPI.showConsents
    ).audited(.read)
}

extension NativeAPI {
    /// Executes a command for users of `vendor`.
    ///
    /// - Throws: `Problem`.
    private func ask(
        _ command: UserCommand,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> UserReply {
        let reply = try await perform(.user(command), caller, app: scope.app, vendor: scope.vendor)
        guard case .user(let reply) = reply else { throw .unavailable(5) }
        return reply
    }

    private func described(
        _ user: UserID,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> DescribedUser {
        guard case .described(let found) = try await ask(.describe([.id(user)]), caller, scope) else {
            throw .unavailable(5)
        }
        guard let first = found.first, let user = first else { throw .notFound("no such user") }
        return user
    }

    func listUsers(_ call: NativeCall<UserOperations.ListInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let after = try call.after
        let limit = try call.limit
        try await known(scope.app, call.caller)
        let page = try await asked { () async throws(StoreError) in
            try await queries.users(of: scope, in: call.tenant, after: after.map { UserID($0) }, limit: limit)
        }
        call.found(page.count)
        return .json(UserOperations.page.json(page, limit: limit) { .string($0.user.rawValue) })
    }

    func showUser(_ call: NativeCall<UserOperations.UserInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let user = try await described(try call.user, call.caller, scope)
        call.found(1)
        return .json(UserShapes.user.json(user))
    }

    func updateUser(_ call: NativeCall<UserOperations.UpdateInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let user = try call.user
        let changes = (try call.attributes ?? JSONObject()).pairs.map { name, value in
            AttributeChange(name, value == .null ? .remove : .set(value))
        }
        let patch = UserPatch(user: .id(user), changes: changes, acceptsPush: try call.acceptsPush)
        let command = UserCommand.track(UserBatch(patches: [patch]))
        guard case .tracked(let patches, _) = try await ask(command, call.caller, scope) else { throw .unavailable(5) }
        if let first = patches.first, let refusal = first { throw Problem(refusal, app: scope.app) }
        return .json(UserShapes.user.json(try await described(user, call.caller, scope)))
    }

    func eraseUser(_ call: NativeCall<UserOperations.EraseInput>) async throws(Problem) -> Response {
        let user = try call.user
        return try await act(
            ErasureRules.erase([user], .everywhere, by: call.actor.description),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: "no such user"
        ) { count in
            .json(["erased": .int(count)])
        }
    }

    func changeConsents(_ call: NativeCall<UserOperations.ConsentsInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let users = try call.users
        guard !users.isEmpty else { throw .invalid("users", "must not be empty") }
        let change = ConsentChange(
            subject: try call.subject,
            state: try call.state,
            users: users.map { .id($0) }
        )
        guard case .consented(let count) = try await ask(.consent([change]), call.caller, scope) else {
            throw .unavailable(5)
        }
        return .json(["changed": .int(count)])
    }

    func showConsents(_ call: NativeCall<UserOperations.UserInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let user = try await described(try call.user, call.caller, scope)
        call.found(1)
        return .json(UserShapes.consentsOfUser.json(user))
    }
}
