import Commands
import GatewayHTTP
import Hummingbird
import Imports
import Model
import Store

/// `/v1/apps`: the provisioned apps.
enum AppOperations {
    static let all = [list]

    struct ListInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    private static let platform = AnswerShape<ListedApp.Route>(
        "AppPlatform",
        [
            .word("platform", "The platform.") { $0.platform },
            .text("topic", "Apple's topic.", example: "com.example.shop") { $0.topic },
            .init(
                "environments",
                .list(of: .words(PushEnvironment.allCases.map(\.rawValue))).described(
                    "The environments with a credential."
                )
            ) { .array($0.environments.map { .string($0.rawValue) }) },
        ]
    )

    private static let app = AnswerShape<ListedApp>(
        "App",
        [
            .text("app", "The app's id.", example: "shop") { $0.app.rawValue },
            .list("platforms", platform, "The platforms to which the app can send.") { $0.platforms },
            .time("createdAt", "When it was first provisioned.") { $0.createdAt },
            .optionalTime("retiredAt", "When it was removed from provisioning; null: it is in use.") { $0.retiredAt },
            .word("origin", "`file`: a provisioning file changes it; `api`: calls do.") { $0.origin },
        ]
    )

    static let page = AnswerPage("apps", app, next: .text(example: "shop"))

    static let list = NativeOperation(
        "listApps",
        .get,
        "/v1/apps",
        scope: .read,
        "List the tenant's apps by id.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of apps.")],
        NativeAPI.listApps
    )
}

extension NativeAPI {
    func listApps(_ call: NativeCall<AppOperations.ListInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let page = try await asked { () async throws(StoreError) in
            try await queries.apps(in: call.tenant, after: after.map { AppID($0) }, limit: limit)
        }
        return .json(AppOperations.page.json(page, limit: limit) { .string($0.app.rawValue) })
    }

    /// - Throws: `Problem`: `.notFound` when the tenant does not have the app.
    func known(_ app: AppID, _ caller: NativeCaller) async throws(Problem) {
        let isKnown = try await asked { () async throws(StoreError) in
            try await imports.knows(AppScope(app: app, vendor: .native), in: caller.tenant)
        }
        guard isKnown else { throw .notFound("no such app") }
    }
}
