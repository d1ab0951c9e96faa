import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/expected-users`: users of whom the app's back end expects a registration.
enum ExpectationOperations {
    static let all = [expect, list, drop]

    /// The members of an entry of `users`.
    struct EntryInput: InputFields {
        let user = BodyField.required("user", .user, "The user, as the device states it.")
        let phone = BodyField.optional(
            "phone",
            .text(32, atLeast: 1).example("010-1234-5678"),
            "The phone number that the registration must have, in the form that the vendor stores; null: it must have none. Only digits are compared."
        )
        let token = BodyField.optional(
            "token",
            .text(4 * 1024, atLeast: 1).example("8d7c2b1a0f9e8d7c6b5a49382716050403020100f0e0d0c0b0a090807060504f"),
            "The push token that the registration must have; null: any. Only its digest is stored."
        )
        let endsAt = BodyField.optional(
            "endsAt",
            .time,
            "When the expectation ends, at most 31 days ahead; null: in an hour."
        )
    }

    /// An entry, whose missing end is that of the call.
    struct Entry: Sendable {
        var user: UserID
        var phone: String?
        var token: DeviceToken?
        var endsAt: Timestamp?
    }

    struct ExpectInput: InputFields {
        let app = CommonInputs.app
        let once = CommonInputs.repeatKey
        let users = BodyField.required(
            "users",
            .list(.expectation, limit: CommandLimits.expectedUsersPerCall),
            "The users, none of them twice."
        )
    }

    static let expect = NativeOperation(
        "expectUsers",
        .post,
        "/v1/apps/{app}/expected-users",
        scope: .devices,
        "Expect a registration of each user: the first device that registers with it is vouched. Replaces earlier expectations. Writes audit entries.",
        input: ExpectInput(),
        example: ["users": [["user": "u-1", "phone": "010-1234-5678"]]],
        answers: [
            .json(
                JSONSchema.object([
                    ("expected", .integer(0...Int64.max).described("The number of users of this call."), true)
                ]).named("ExpectedUsers"),
                "The users are expected."
            )
        ],
        problems: [.notFound],
        NativeAPI.expectUsers
    ).audited(.act)

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let entry = AnswerShape<StoredExpectation>(
        "ExpectedUser",
        [
            .text("user", "The user.", example: "u-1") { $0.user.rawValue },
            .optionalText("phone", "The phone number that the registration must have, digits; null: it must have none.")
            {
                $0.phone
            },
            .flag("hasToken", "Whether the registration must have a certain push token.") { $0.hasToken },
            .time("endsAt", "When the expectation ends.") { $0.endsAt },
            .time("createdAt", "When the back end stated it.") { $0.createdAt },
        ]
    )

    static let page = AnswerPage("users", entry, next: .text(example: "u-1"), title: "ExpectedUsers")

    static let list = NativeOperation(
        "listExpectedUsers",
        .get,
        "/v1/apps/{app}/expected-users",
        scope: .read,
        "List the expected users that have not registered yet, by id.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of expected users.")],
        problems: [.notFound],
        NativeAPI.listExpectedUsers
    ).audited(.read)

    struct DropInput: InputFields {
        let app = CommonInputs.app
        let user = CommonInputs.user
        let once = CommonInputs.repeatKey
    }

    static let drop = NativeOperation(
        "dropExpectedUser",
        .delete,
        "/v1/apps/{app}/expected-users/{user}",
        scope: .devices,
        "End the expectation of a user. Writes an audit entry.",
        input: DropInput(),
        answers: [.empty("The user is not expected any longer.")],
        problems: [.notFound],
        NativeAPI.dropExpectedUser
    ).audited(.act)
}

extension InputKind where Value == ExpectationOperations.Entry {
    fileprivate static let expectation = InputKind.object(ExpectationOperations.EntryInput()) {
        (fields) throws(Problem) in
        let token = try fields.token
        // Hex is a token of Apple's in either case; other tokens are opaque.
        let read = token.flatMap { DeviceToken(apns: $0) ?? DeviceToken(fcm: $0) }
        if token != nil, read == nil { throw .invalid("users.token", "is not a device token") }
        return ExpectationOperations.Entry(
            user: try fields.user,
            phone: try fields.phone.map { $0.filter(\.isNumber) },
            token: read,
            endsAt: try fields.endsAt
        )
    }
}

extension NativeAPI {
    /// An expectation without an end lasts for an hour: a sign-in and the registration after it.
    private static let expectationSeconds: Int64 = 3600

    func expectUsers(_ call: NativeCall<ExpectationOperations.ExpectInput>) async throws(Problem) -> Response {
        let now = handler.now
        let ends = Timestamp(milliseconds: now.milliseconds + Self.expectationSeconds * 1000)
        let users = try call.users.map {
            ExpectedUser(user: $0.user, phone: $0.phone, token: $0.token, endsAt: $0.endsAt ?? ends)
        }
        return try await act(
            ExpectationRules.expect(users, of: try call.app, at: now, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            refused: { outcome in
                switch outcome {
                case .invalid(let field, let fault): .invalid(field, fault)
                case .tooMany:
                    .invalid("users", "the app has \(CommandLimits.expectedUsersPerApp) expected users already")
                case .unknownApp, .expected: .notFound("no such app")
                }
            },
            answer: { outcome in
                guard case .expected(let count) = outcome else { return nil }
                return .json(["expected": .int(count)])
            }
        )
    }

    func listExpectedUsers(_ call: NativeCall<ExpectationOperations.ListInput>) async throws(Problem) -> Response {
        let app = try call.app
        let after = try call.after
        let limit = try call.limit
        try await known(app, call.caller)
        let page = try await asked { () async throws(StoreError) in
            try await queries.expectedUsers(of: app, in: call.tenant, after: after.map { UserID($0) }, limit: limit)
        }
        call.found(page.count)
        return .json(ExpectationOperations.page.json(page, limit: limit) { .string($0.user.rawValue) })
    }

    func dropExpectedUser(_ call: NativeCall<ExpectationOperations.DropInput>) async throws(Problem) -> Response {
        try await act(
            ExpectationRules.drop(try call.user, of: try call.app, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: "no such expected user"
        ) { didDrop in
            didDrop ? KeptAnswer(status: 204) : nil
        }
    }
}
