import AnswerShapes
import Commands
import EngineStore
import GatewayHTTP
import Hummingbird
import Imports
import Model
import Provisioning
import Store

/// `/v1/apps`: the apps of provisioning files and of the API.
enum AppOperations {
    static let all = [list, put, show, delete]

    struct ListInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let list = NativeOperation(
        "listApps",
        .get,
        "/v1/apps",
        scope: .read,
        "List the tenant's apps by id.",
        input: ListInput(),
        answers: [.json(AppShapes.page.schema, "A page of apps.")],
        NativeAPI.listApps
    )

    private static let anyObject = InputKind<JSONObject>.anyObject

    /// The members of an app of a provisioning file, which its reader checks.
    struct PutInput: InputFields {
        let app = CommonInputs.app
        let platforms = BodyField.optional(
            "platforms",
            AppOperations.anyObject.example(["ios": ["topic": "com.example.web", "production": "apple"]]),
            "By platform: `topic`, and the credential for `production` and `sandbox`."
        )
        let bindings = BodyField.optional(
            "bindings",
            AppOperations.anyObject.example([:]),
            "By vendor, with the vendor's members. Secrets are texts: `secret` in place of `secretFile`."
        )
        let timeZone = BodyField.optional("timeZone", .timeZone, "Its time zone.")
        let quietHours = BodyField.optional(
            "quietHours",
            AppOperations.anyObject.example(["from": "22:00", "to": "07:00"]),
            "`from`, `to`, `zone`, `lanes`, `outside`."
        )
        let windows = BodyField.optional(
            "receivingWindows",
            AppOperations.anyObject.example(["outside": "delay"]),
            "`lanes`, `outside`."
        )
        let cap = BodyField.optional(
            "frequencyCap",
            AppOperations.anyObject.example(["count": 5, "per": "24h"]),
            "`count`, `per`."
        )
        let assurance = BodyField.optional(
            "minAssurance",
            InputKind<JSON>(.any(of: [.text(example: "claimed"), .anyObject])) { (json, _) in json },
            "The least level of recipients: one, or by lane."
        )
        let mixed = BodyField.optional("mixedAssurance", .flag, "Whether messages reach several levels.")
        let approval = BodyField.optional(
            "approvalAbove",
            .integer(0...Int(Int32.max)),
            "Messages to more recipients need an approval; null: none does."
        )
        let crossing = BodyField.optional(
            "crossDialectSends",
            .flag,
            "Whether a vendor's sends reach the registrations of other vendors."
        )
        let quotas = BodyField.optional(
            "quotas",
            AppOperations.anyObject.example(["identities": 2_000_000]),
            "Numbers by quota."
        )
        let tokens = BodyField.optional(
            "userTokens",
            AppOperations.anyObject.example(["issuer": "https://login.example.com", "audience": "push", "keys": []]),
            "`issuer`, `audience`, and `keys` with `publicKey` or `jwks`."
        )
    }

    static let put = NativeOperation(
        "putApp",
        .put,
        "/v1/apps/{app}",
        scope: .admin,
        "Create an app with its bindings, or replace its settings. Members that the body lacks have their defaults.",
        input: PutInput(),
        example: ["platforms": ["ios": ["topic": "com.example.web", "production": "apple"]], "approvalAbove": 10000],
        answers: [
            .json(201, AppShapes.app.schema, "The app was created."),
            .json(200, AppShapes.app.schema, "The app was replaced."),
        ],
        problems: [.provisioned],
        NativeAPI.putApp
    ).audited(.act)

    struct AppInput: InputFields {
        let app = CommonInputs.app
    }

    static let show = NativeOperation(
        "showApp",
        .get,
        "/v1/apps/{app}",
        scope: .read,
        "Show an app.",
        input: AppInput(),
        answers: [.json(AppShapes.app.schema, "The app.")],
        problems: [.notFound],
        NativeAPI.showApp
    )

    static let delete = NativeOperation(
        "deleteApp",
        .delete,
        "/v1/apps/{app}",
        scope: .admin,
        "Delete an app without active identities, and its bindings. Its history stays.",
        input: AppInput(),
        answers: [.empty("The app is deleted.")],
        problems: [.notFound, .provisioned],
        NativeAPI.deleteApp
    ).audited(.act)
}

extension NativeAPI {
    func listApps(_ call: NativeCall<AppOperations.ListInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let page = try await asked { () async throws(StoreError) in
            try await queries.apps(in: call.tenant, after: after.map { AppID($0) }, limit: limit)
        }
        return .json(AppShapes.page.json(page, limit: limit) { .string($0.app.rawValue) })
    }

    private func shown(_ app: AppID, in tenant: TenantID) async throws(Problem) -> JSON {
        let found = try await asked { () async throws(StoreError) in try await queries.app(app, in: tenant) }
        guard let found else { throw .notFound("no such app") }
        return AppShapes.app.json(found)
    }

    func showApp(_ call: NativeCall<AppOperations.AppInput>) async throws(Problem) -> Response {
        .json(try await shown(try call.app, in: call.tenant))
    }

    func putApp(_ call: NativeCall<AppOperations.PutInput>) async throws(Problem) -> Response {
        let app = try call.app
        let outcome = try await written("the app '\(app)'") {
            try await stores.objects.put(app, call.values.body, in: call.tenant, by: call.actor)
        }
        return .json(try await shown(app, in: call.tenant), status: outcome == .created ? .created : .ok)
    }

    func deleteApp(_ call: NativeCall<AppOperations.AppInput>) async throws(Problem) -> Response {
        let app = try call.app
        _ = try await written("the app '\(app)'") {
            try await stores.objects.remove(app, in: call.tenant, by: call.actor)
        }
        return Response(status: .noContent)
    }

    /// - Throws: `Problem`: `.notFound` when the tenant does not have the app.
    func known(_ app: AppID, _ caller: NativeCaller) async throws(Problem) {
        let isKnown = try await asked { () async throws(StoreError) in
            try await imports.knows(AppScope(app: app, vendor: .native), in: caller.tenant)
        }
        guard isKnown else { throw .notFound("no such app") }
    }
}
