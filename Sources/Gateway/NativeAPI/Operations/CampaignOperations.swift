import Adapters
import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model

/// `/v1/apps/{app}/campaigns`: messages that a vendor's back ends send by reference to a campaign.
enum CampaignOperations {
    static let all = [list, create, show, put, delete]

    static let id = PathField.required(
        "campaign",
        .text(256, atLeast: 1).example("9a8b7c6d-0000-4000-8000-000000000001"),
        "The campaign's id."
    )
    private static let vendors = VendorCatalog.product.vendors { VendorCatalog.product.campaigns[$0] != nil }
    private static let vendor = QueryField.required("vendor", .vendor(among: vendors), "The vendor of the campaign.")

    struct Shown: Sendable {
        var campaign: Campaign
        var scope: AppScope
    }

    static let campaign = AnswerShape<Shown>(
        "Campaign",
        [
            .text("id", "The campaign's id.", example: "9a8b7c6d-0000-4000-8000-000000000001") { $0.campaign.id },
            .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
            .text("vendor", "The vendor.", example: "braze") { $0.scope.vendor.rawValue },
            .text("name", "The display name.", example: "Winter sale") { $0.campaign.name },
            .time("createdAt", "When it was created.") { $0.campaign.createdAt },
            .time("updatedAt", "When it was last changed.") { $0.campaign.updatedAt },
        ],
        content: { $0.campaign.body }
    )

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let vendor = CampaignOperations.vendor
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("campaigns", campaign)

    static let list = NativeOperation(
        "listCampaigns",
        .get,
        "/v1/apps/{app}/campaigns",
        scope: .read,
        "List an app's campaigns by id.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of campaigns.")],
        problems: [.notFound],
        NativeAPI.listCampaigns
    )

    struct CreateInput: InputFields {
        let app = CommonInputs.app
        let vendor = CampaignOperations.vendor
        let name = BodyField.required("name", .campaignName, "The display name.")
    }

    private static let example: JSON = [
        "name": "Winter sale",
        "variations": [["message_variation_id": "v-1", "apple_push": ["alert": "Everything must go."]]],
    ]

    static let create = NativeOperation(
        "createCampaign",
        .post,
        "/v1/apps/{app}/campaigns",
        scope: .send,
        "Create a campaign with an id made by the gateway. Other members have the vendor's format.",
        input: CreateInput(),
        body: .json(isOpen: true),
        example: example,
        answers: [.json(201, campaign.schema, "The campaign.")],
        problems: [.notFound],
        NativeAPI.createCampaign
    ).audited(.act)

    struct IDInput: InputFields {
        let app = CommonInputs.app
        let campaign = CampaignOperations.id
        let vendor = CampaignOperations.vendor
    }

    static let show = NativeOperation(
        "showCampaign",
        .get,
        "/v1/apps/{app}/campaigns/{campaign}",
        scope: .read,
        "Show a campaign.",
        input: IDInput(),
        answers: [.json(campaign.schema, "The campaign.")],
        problems: [.notFound],
        NativeAPI.showCampaign
    )

    struct PutInput: InputFields {
        let app = CommonInputs.app
        let campaign = CampaignOperations.id
        let vendor = CampaignOperations.vendor
        let name = BodyField.required("name", .campaignName, "The display name.")
    }

    static let put = NativeOperation(
        "putCampaign",
        .put,
        "/v1/apps/{app}/campaigns/{campaign}",
        scope: .send,
        "Create a campaign, or replace it. Other members have the vendor's format.",
        input: PutInput(),
        body: .json(isOpen: true),
        example: example,
        answers: [
            .json(201, campaign.schema, "The campaign was created."),
            .json(200, campaign.schema, "The campaign was replaced."),
        ],
        problems: [.notFound],
        NativeAPI.putCampaign
    ).audited(.act)

    static let delete = NativeOperation(
        "deleteCampaign",
        .delete,
        "/v1/apps/{app}/campaigns/{campaign}",
        scope: .send,
        "Delete a campaign.",
        input: IDInput(),
        answers: [.empty("The campaign is deleted.")],
        problems: [.notFound],
        NativeAPI.deleteCampaign
    ).audited(.act)
}

extension InputKind where Value == String {
    fileprivate static let campaignName = text(atLeast: 1).example("Winter sale")
}

extension NativeAPI {
    private func ask(
        _ command: CampaignCommand,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> CampaignReply {
        let reply = try await perform(.campaign(command), caller, app: scope.app, vendor: scope.vendor)
        guard case .campaign(let reply) = reply else { throw .unavailable(5) }
        return reply
    }

    private func find(_ id: String, _ caller: NativeCaller, _ scope: AppScope) async throws(Problem) -> JSON {
        guard case .found(let found) = try await ask(.find(id), caller, scope) else { throw .unavailable(5) }
        guard let found else { throw .notFound("no such campaign") }
        return CampaignOperations.campaign.json(
            CampaignOperations.Shown(campaign: found, scope: scope),
            withContent: caller.mayReadContent(of: scope.app)
        )
    }

    func listCampaigns(_ call: NativeCall<CampaignOperations.ListInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let limit = try call.limit
        let command = CampaignCommand.list(after: try call.after, limit: limit)
        try await known(scope.app, call.caller)
        guard case .listed(let found) = try await ask(command, call.caller, scope) else { throw .unavailable(5) }
        let page = found.map { CampaignOperations.Shown(campaign: $0, scope: scope) }
        let withContent = call.caller.mayReadContent(of: scope.app)
        return .json(
            CampaignOperations.page.json(page, limit: limit, withContent: { _ in withContent }) {
                .string($0.campaign.id)
            }
        )
    }

    func showCampaign(_ call: NativeCall<CampaignOperations.IDInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        return .json(try await find(try call.campaign, call.caller, scope))
    }

    func createCampaign(_ call: NativeCall<CampaignOperations.CreateInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let campaign = identifiers.randomHex(byteCount: 16)
        return try await put(campaign, try call.name, call.undeclared, call.caller, scope)
    }

    func putCampaign(_ call: NativeCall<CampaignOperations.PutInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        return try await put(try call.campaign, try call.name, call.undeclared, call.caller, scope)
    }

    private func put(
        _ id: String,
        _ name: String,
        _ body: JSONObject,
        _ caller: NativeCaller,
        _ scope: AppScope
    ) async throws(Problem) -> Response {
        if let problem = previews.vendors.campaigns[scope.vendor]?.campaignProblem(in: body) {
            throw .invalid("body", problem)
        }
        guard case .put(let isNew) = try await ask(.put(id: id, name: name, body: body), caller, scope) else {
            throw .unavailable(5)
        }
        return .json(try await find(id, caller, scope), status: isNew ? .created : .ok)
    }

    func deleteCampaign(_ call: NativeCall<CampaignOperations.IDInput>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        guard case .removed(let isRemoved) = try await ask(.remove(try call.campaign), call.caller, scope) else {
            throw .unavailable(5)
        }
        guard isRemoved else { throw .notFound("no such campaign") }
        return Response(status: .noContent)
    }
}
