import AnswerShapes
import EngineStore
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Logging
import Model
import Observability
import Provisioning
import Routing
import Store

/// `/v1/apps/{app}/routes`: the rules of an app and their versions. A provisioning file owns the base; calls change the overlay in front of it.
enum RouteOperations {
    static let all = [show, put, versions, rollback, test]

    /// The rules of an app in one version.
    struct Shown: Sendable {
        var app: AppID
        /// Nil: the app has no rules.
        var stored: StoredRoutes?
        var rules: RouteRules
        var isInForce: Bool
    }

    private static let anyRules = JSONSchema.anyObject.described("`duplicateGuard`, `calls`, `deliveries`.")

    static let routes = AnswerShape<Shown>(
        "Routes",
        [
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .optionalInt("version", "The version; null: the app has no rules.") { $0.stored?.version },
            .flag("inForce", "Whether the version is the one in force.") { $0.isInForce },
            .init("rules", anyRules.described("The rules that apply: those of the overlay, then those of the base.")) {
                $0.rules.json
            },
            .anyObject("overlay", "The rules of calls and migrations, in front of the base.") {
                $0.stored?.overlay ?? [:]
            },
            .anyObject("base", "The rules of the provisioning file.") { $0.stored?.base ?? [:] },
            .init("origin", origins.nullable.described("The origin of the version.")) {
                ($0.stored?.origin).map { .string($0.rawValue) } ?? .null
            },
            .optionalText("actor", "The author.", example: "key:ops") { $0.stored?.actor },
            .optionalTime("madeAt", "When it was made.") { $0.stored?.madeAt },
        ]
    )

    private static let origins = JSONSchema.words(RouteOrigin.allCases.map(\.rawValue))

    private static let version = AnswerShape<RouteVersion>(
        "RouteVersion",
        [
            .int("version", "The version.") { $0.version },
            .word("origin", "The origin: `file`, `api` or `migration`.") { $0.origin },
            .text("actor", "The author.", example: "key:ops") { $0.actor },
            .time("madeAt", "When it was made.") { $0.madeAt },
        ]
    )

    static let page = AnswerPage("versions", version, next: .integer(example: 40), title: "RouteVersions")

    private static let tag = DeclaredAnswer.Header(
        name: "ETag",
        schema: .text(example: "\"41\""),
        description: "The version in quotation marks, for `If-Match`; `\"0\"`: the app has no rules."
    )

    private static func answer(_ description: String) -> DeclaredAnswer {
        var answer = DeclaredAnswer.json(routes.schema, description)
        answer.headers = [tag]
        return answer
    }

    private static let versionNumber = InputKind<Int>.integer(1...Int(Int32.max))

    /// A value of `ETag`: a number in quotation marks.
    private static let versionTag = InputKind<String>.text(16, atLeast: 1).example("\"41\"")
        .map("must be the ETag of the routes: a version in quotation marks, like \"41\"") { text -> Int? in
            guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return nil }
            return Int(text.dropFirst().dropLast()).flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
        }

    struct ShowInput: InputFields {
        let app = CommonInputs.app
        let version = QueryField.optional(
            "version",
            RouteOperations.versionNumber,
            "An earlier version; default: the one in force."
        )
    }

    static let show = NativeOperation(
        "showRoutes",
        .get,
        "/v1/apps/{app}/routes",
        scope: .read,
        "Show the rules of an app: which side answers calls, and by which paths pushes leave.",
        input: ShowInput(),
        answers: [answer("The rules. Without a version, the app has none.")],
        problems: [.notFound],
        NativeAPI.showRoutes
    )

    private static let rule = InputKind<[JSONObject]>.list(.anyObject, limit: RouteLimits.rules)

    struct PutInput: InputFields {
        let app = CommonInputs.app
        let ifMatch = HeaderField.optional(
            "If-Match",
            RouteOperations.versionTag,
            "The `ETag` of the rules that the call replaces. Required."
        )
        let guarded = BodyField.optional(
            "duplicateGuard",
            InputKind<JSONObject>.anyObject.example(["window": "10m"]),
            "`window`: the time within which equal messages through two entry points count as one."
        )
        let calls = BodyField.optional("calls", RouteOperations.rule, "The rules for calls, as in a provisioning file.")
        let deliveries = BodyField.optional(
            "deliveries",
            RouteOperations.rule,
            "The rules for deliveries, as in a provisioning file."
        )
    }

    static let put = NativeOperation(
        "putRoutes",
        .put,
        "/v1/apps/{app}/routes",
        scope: .admin,
        "Replace the overlay of an app: the rules in front of those of its provisioning file. Makes a new version.",
        input: PutInput(),
        example: [
            "calls": [["kinds": ["send"], "action": "serve"]], "deliveries": [["paths": ["apns"]]],
        ],
        answers: [answer("The rules in force. The same content makes no version.")],
        problems: [.notFound, .preconditionFailed, .preconditionRequired],
        NativeAPI.putRoutes
    ).audited(.act)

    struct VersionsInput: InputFields {
        let app = CommonInputs.app
        let after = QueryField.optional("after", RouteOperations.versionNumber, "`next` of the previous page.")
        let limit = CommonInputs.limit
    }

    static let versions = NativeOperation(
        "listRouteVersions",
        .get,
        "/v1/apps/{app}/routes/versions",
        scope: .read,
        "List the versions of an app's rules, newest first.",
        input: VersionsInput(),
        answers: [.json(page.schema, "A page of versions.")],
        problems: [.notFound],
        NativeAPI.listRouteVersions
    )

    struct RollbackInput: InputFields {
        let app = CommonInputs.app
        let ifMatch = HeaderField.optional(
            "If-Match",
            RouteOperations.versionTag,
            "The `ETag` of the rules that the call replaces; default: whichever are in force."
        )
        let version = BodyField.required("version", RouteOperations.versionNumber, "The version to return to.")
    }

    static let rollback = NativeOperation(
        "rollbackRoutes",
        .post,
        "/v1/apps/{app}/routes/rollback",
        scope: .admin,
        "Give an app the rules of an earlier version, base and overlay, as a new version.",
        input: RollbackInput(),
        answers: [answer("The rules in force. The same content makes no version.")],
        problems: [.notFound, .preconditionFailed],
        NativeAPI.rollbackRoutes
    ).audited(.act)
}

extension RouteOperations {
    /// 100 users and as many devices: each costs a hash per rule.
    private static let targetLimit = 100

    private static func targets(_ name: String, _ example: JSON, _ text: String) -> InputField<[String]> {
        let kind = InputKind<[String]>.list(.text(256, atLeast: 1).example(example), limit: targetLimit)
        return BodyField.optional(name, kind, default: [], text)
    }

    struct TestInput: InputFields {
        let app = CommonInputs.app
        let vendor = BodyField.required("vendor", .vendor, "The dialect of the call and of the registrations.")
        let kind = BodyField.optional(
            "kind",
            InputKind<CallKind>.word(CallKind.self),
            default: .send,
            as: "send",
            "The call's kind."
        )
        let name = BodyField.optional(
            "name",
            InputKind<String>.text(128).example("303"),
            default: "",
            "The call's name in the vendor's compatibility table."
        )
        let appVersion = BodyField.optional(
            "appVersion",
            InputKind<String>.text(64).example("3.10"),
            "The app version that the call states."
        )
        let users = RouteOperations.targets("users", "user-1", "The users that the call names.")
        let devices = RouteOperations.targets(
            "devices",
            "phone-1",
            "The vendor's keys of devices without a user that it names."
        )
        let platform = BodyField.optional(
            "platform",
            InputKind<Platform>.word(Platform.self),
            default: .ios,
            as: "ios",
            "The devices' platform."
        )
        let lane = BodyField.optional(
            "lane",
            .lane,
            default: .transactional,
            as: "transactional",
            "The message's lane."
        )
        let tags = RouteOperations.targets("tags", "seoul", "The devices' tags.")
        let overlay = BodyField.optional(
            "overlay",
            InputKind<JSONObject>.anyObject.example(["deliveries": [["paths": ["apns"]]]]),
            "Rules to be tried in place of the stored overlay."
        )
    }

    private static let fault = JSONSchema.object([
        ("rule", .text(example: "calls[0]"), true), ("problem", .text(example: "at most 2 paths"), true),
    ])

    /// The place of a rule. The lists of the overlay and of the base follow each other.
    private static let place = JSONSchema.integer(0...Int64(2 * RouteLimits.rules - 1)).nullable
        .described("The rule that applies; null: none.")

    private static let call = JSONSchema.object([
        ("rule", place, true),
        ("action", .words(CallAction.allCases.map(\.rawValue)), true),
        ("upstream", JSONSchema.text(example: "old-braze").nullable, true),
        ("split", JSONSchema.flag.described("Whether the delivery rules split the send."), true),
        ("onMiss", JSONSchema.words(["proxy"]).nullable, true),
        ("onOutage", JSONSchema.words(["serve"]).nullable, true),
    ])

    private static let delivery = JSONSchema.object([
        ("target", JSONSchema.text(example: "user-1").nullable, true),
        ("rule", place, true),
        (
            "bucket",
            JSONSchema.integer(0...Int64(UInt32.max)).nullable.described("The bucket of the last rollout looked at."),
            true
        ),
        ("paths", JSONSchema.list(of: .text(example: "apns")), true),
    ])

    private static let decisions = JSONSchema.object([
        ("rules", anyRules, true), ("faults", .list(of: fault), true),
        (
            "unsupported",
            JSONSchema.text(example: "calls[0]: action proxy").nullable.described(
                "The first part not carried out yet."
            ),
            true
        ),
        ("call", call, true), ("deliveries", .list(of: delivery), true),
    ]).named("RouteDecisions")

    static let test = NativeOperation(
        "testRoutes",
        .post,
        "/v1/apps/{app}/routes/test",
        scope: .read,
        "Show the decisions of an app's rules about a call and about the deliveries to the targets that it names.",
        input: TestInput(),
        example: ["vendor": "braze", "users": ["user-1", "user-2"]],
        answers: [.json(decisions, "The decisions, and the faults of the rules.")],
        problems: [.notFound],
        NativeAPI.testRoutes
    )
}

extension NativeAPI {
    private func response(_ shown: RouteOperations.Shown) -> Response {
        .json(RouteOperations.routes.json(shown), headers: [.eTag: "\"\(shown.stored?.version ?? 0)\""])
    }

    private func shown(
        _ stored: StoredRoutes?,
        of app: AppID,
        inForce: Bool
    ) throws(Problem) -> RouteOperations.Shown {
        do throws(ProvisioningProblem) {
            let rules = try stored.map { (stored) throws(ProvisioningProblem) in try RouteSet(stored).rules }
            return RouteOperations.Shown(app: app, stored: stored, rules: rules ?? .none, isInForce: inForce)
        } catch {
            throw Problem.invalid(error.path, error.problem)
        }
    }

    private func current(_ app: AppID, in tenant: TenantID) async throws(Problem) -> AppRoutes {
        let found = try await asked { () async throws(StoreError) in
            try await stores.routes.store.routes(of: app, in: tenant)
        }
        guard let found else { throw .notFound("no such app") }
        return found
    }

    func showRoutes(_ call: NativeCall<RouteOperations.ShowInput>) async throws(Problem) -> Response {
        let app = try call.app
        let found = try await current(app, in: call.tenant).current
        guard let version = try call.version, version != found?.version else {
            return response(try shown(found, of: app, inForce: true))
        }
        let stored = try await asked { () async throws(StoreError) in
            try await stores.routes.store.version(version, of: app, in: call.tenant)
        }
        guard let stored else { throw .notFound("no such version") }
        return response(try shown(stored, of: app, inForce: false))
    }

    func listRouteVersions(_ call: NativeCall<RouteOperations.VersionsInput>) async throws(Problem) -> Response {
        let app = try call.app
        let (after, limit) = (try call.after, try call.limit)
        _ = try await current(app, in: call.tenant)
        let page = try await asked { () async throws(StoreError) in
            try await stores.routes.store.versions(of: app, in: call.tenant, before: after, limit: limit)
        }
        return .json(RouteOperations.page.json(page, limit: limit) { .int($0.version) })
    }

    func putRoutes(_ call: NativeCall<RouteOperations.PutInput>) async throws(Problem) -> Response {
        let app = try call.app
        guard let version = try call.ifMatch else {
            throw .preconditionRequired("send If-Match with the ETag of GET /v1/apps/{app}/routes")
        }
        // The list's own limits.
        _ = (try call.guarded, try call.calls, try call.deliveries)
        return try await routed(app, call.tenant) {
            try await stores.routes.put(
                app,
                overlay: call.values.body,
                ifVersion: version,
                in: call.tenant,
                by: call.actor
            )
        }
    }

    func rollbackRoutes(_ call: NativeCall<RouteOperations.RollbackInput>) async throws(Problem) -> Response {
        let app = try call.app
        let (version, expected) = (try call.version, try call.ifMatch)
        return try await routed(app, call.tenant) {
            try await stores.routes.restore(
                app,
                version: version,
                ifVersion: expected,
                in: call.tenant,
                by: call.actor
            )
        }
    }

    /// Runs a write and answers with the rules that are then in force.
    private func routed(
        _ app: AppID,
        _ tenant: TenantID,
        _ write: () async throws -> RouteWrite
    ) async throws(Problem) -> Response {
        switch try await checked(write) {
        case .missing: throw .notFound("no such app")
        case .unknownVersion: throw .invalid("version", "the app does not have it")
        case .mismatch(version: 0): throw .preconditionFailed("the app has no rules")
        case .mismatch(version: let version): throw .preconditionFailed("version \(version) is in force")
        case .busy: throw .unavailable(1)
        case .migrating(let migration):
            throw .invalid("app", "the migration '\(migration)' decides its overlay; roll it back or complete it first")
        case .full:
            throw .invalid("app", "at most \(RouteLimits.versions) versions by calls; use a provisioning file")
        case .unchanged, .stored:
            return response(try shown(try await current(app, in: tenant).current, of: app, inForce: true))
        }
    }

    /// Runs a call of `RouteProvisioner`, and answers its errors.
    private func checked<Value: Sendable>(_ body: () async throws -> Value) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch let problem as ProvisioningProblem {
            throw Problem.invalid(problem.path.isEmpty ? "body" : problem.path, problem.problem)
        } catch {
            logger.warning("routes cannot be stored or read", metadata: [LogKey.error: "\(error)"])
            throw Problem.unavailable(5)
        }
    }

    func testRoutes(_ call: NativeCall<RouteOperations.TestInput>) async throws(Problem) -> Response {
        let app = try call.app
        let trial = RouteTrial(
            vendor: try call.vendor,
            kind: try call.kind,
            name: try call.name,
            appVersion: try call.appVersion,
            targets: try call.users.map { RolloutFacts(user: $0) } + call.devices.map { RolloutFacts(device: $0) },
            platform: try call.platform,
            lane: try call.lane,
            tags: Set(try call.tags)
        )
        let overlay = try call.overlay
        let answer = try await checked {
            try await stores.routes.answer(trial, of: app, overlay: overlay, in: call.tenant)
        }
        guard let answer else { throw .notFound("no such app") }
        return .json(.object(answer.json))
    }
}
