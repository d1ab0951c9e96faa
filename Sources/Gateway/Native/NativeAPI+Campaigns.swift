import Commands
import HTTPTypes
import Hummingbird
import Model

/// `/v1/campaigns`: messages that back ends of a dialect send by name. `app` and `vendor` say whose.
extension NativeAPI {
    func campaigns(_ call: Call) async throws(Problem) -> Response {
        switch (call.request.method, call.segments.count) {
        case (.get, 1): return try await listCampaigns(call)
        case (.post, 1): return try await putCampaign(call, nil)
        case (.get, 2): return try await showCampaign(call)
        case (.put, 2): return try await putCampaign(call, call.segments[1])
        case (.delete, 2): return try await removeCampaign(call)
        default: throw .methodNotAllowed("\(call.request.method) \(call.request.uri.path.prefix(64))")
        }
    }

    private func ask(_ command: CampaignCommand, _ call: Call, _ owner: AppScope) async throws(Problem) -> CampaignReply
    {
        let reply = try await perform(.submission(.campaign(command)), call, app: owner.app, vendor: owner.vendor)
        guard case .submission(.campaign(let reply)) = reply else { throw .unavailable(5) }
        return reply
    }

    /// Whose campaigns are meant.
    private func owner(_ call: Call) throws(Problem) -> AppScope {
        guard let app = call.query("app"), !app.isEmpty else { throw .invalid("app", "is missing") }
        guard let name = call.query("vendor") else { throw .invalid("vendor", "is missing") }
        let vendor = Vendor(rawValue: name)
        guard previews.adapters[vendor]?.keepsCampaigns == true else {
            throw .invalid("vendor", "this dialect has no campaigns")
        }
        return AppScope(app: AppID(app), vendor: vendor)
    }

    private func listCampaigns(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let owner = try owner(call)
        let limit = try call.limit()
        // One more than asked for tells whether there are more.
        let command = CampaignCommand.list(after: call.query("after"), limit: min(limit + 1, CampaignCommand.rowLimit))
        guard case .listed(let found) = try await ask(command, call, owner) else { throw .unavailable(5) }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { JSON.string($0.id) } : nil
        return .json(["campaigns": .array(page.map { shape($0, owner) }), "next": next ?? .null])
    }

    private func showCampaign(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let owner = try owner(call)
        return .json(shape(try await find(call.segments[1], call, owner), owner))
    }

    private func find(_ id: String, _ call: Call, _ owner: AppScope) async throws(Problem) -> Campaign {
        guard case .found(let found) = try await ask(.find(id), call, owner) else { throw .unavailable(5) }
        guard let found else { throw .notFound("no such campaign") }
        return found
    }

    /// `id` nil: a new one gets an id of ours.
    private func putCampaign(_ call: Call, _ id: String?) async throws(Problem) -> Response {
        try call.require("send")
        let owner = try owner(call)
        let bytes = try await body(call)
        guard var body = (try? JSONParser.parse(bytes))?.object else {
            throw .badRequest("the body must be a JSON object")
        }
        guard let name = body["name"]?.string, !name.isEmpty else { throw .invalid("name", "is missing") }
        body["name"] = nil
        if let problem = previews.adapters[owner.vendor]?.campaignProblem(in: body) { throw .invalid("body", problem) }
        let id = id ?? identifiers.randomHex(byteCount: 16)
        guard case .put(let isNew) = try await ask(.put(id: id, name: name, body: body), call, owner) else {
            throw .unavailable(5)
        }
        return .json(shape(try await find(id, call, owner), owner), status: isNew ? .created : .ok)
    }

    private func removeCampaign(_ call: Call) async throws(Problem) -> Response {
        try call.require("send")
        let owner = try owner(call)
        guard case .removed(let isRemoved) = try await ask(.remove(call.segments[1]), call, owner) else {
            throw .unavailable(5)
        }
        guard isRemoved else { throw .notFound("no such campaign") }
        return Response(status: .noContent)
    }

    /// What is ours first, then the dialect's own fields.
    private func shape(_ campaign: Campaign, _ owner: AppScope) -> JSON {
        var object: JSONObject = [
            "id": .string(campaign.id), "app": .string(owner.app.rawValue), "vendor": .string(owner.vendor.rawValue),
            "name": .string(campaign.name), "createdAt": .int(campaign.createdAt.milliseconds),
            "updatedAt": .int(campaign.updatedAt.milliseconds),
        ]
        for (key, value) in campaign.body.pairs where object[key] == nil { object[key] = value }
        return .object(object)
    }
}
