import HTTPTypes
import Model

/// A supported call of the REST interface.
enum BrazeCall: String, CaseIterable {
    case send = "/messages/send"
    case track = "/users/track"
    case export = "/users/export/ids"
    case delete = "/users/delete"
    case nameAliases = "/users/alias/new"
    case identify = "/users/identify"
    case merge = "/users/merge"
    case scheduleCreate = "/messages/schedule/create"
    case scheduleUpdate = "/messages/schedule/update"
    case scheduleDelete = "/messages/schedule/delete"
    case scheduledBroadcasts = "/messages/scheduled_broadcasts"
    case trigger = "/campaigns/trigger/send"
    case triggerScheduleCreate = "/campaigns/trigger/schedule/create"
    case triggerScheduleUpdate = "/campaigns/trigger/schedule/update"
    case triggerScheduleDelete = "/campaigns/trigger/schedule/delete"
    case sendCreate = "/sends/id/create"
    case dataSeries = "/sends/data_series"
    case subscriptionSet = "/subscription/status/set"
    case subscriptionsSet = "/v2/subscription/status/set"
    case subscriptionGet = "/subscription/status/get"
    case subscriptionUser = "/subscription/user/status"

    /// The permission that a key needs (docs/contracts/braze.md#4.1).
    var permission: String {
        switch self {
        case .send: "messages.send"
        case .track: "users.track"
        case .export: "users.export.ids"
        case .delete: "users.delete"
        // Assumed: named after the endpoint, as the documented permissions are (docs/contracts/braze.md#4.1).
        case .nameAliases: "users.alias.new"
        case .identify: "users.identify"
        case .merge: "users.merge"
        case .scheduleCreate: "messages.schedule.create"
        case .scheduleUpdate: "messages.schedule.update"
        case .scheduleDelete: "messages.schedule.delete"
        // Assumed: the name.
        case .scheduledBroadcasts: "messages.schedule_broadcasts"
        case .trigger: "campaigns.trigger.send"
        case .triggerScheduleCreate: "campaigns.trigger.schedule.create"
        case .triggerScheduleUpdate: "campaigns.trigger.schedule.update"
        case .triggerScheduleDelete: "campaigns.trigger.schedule.delete"
        case .sendCreate: "sends.id.create"
        case .dataSeries: "sends.data_series"
        case .subscriptionSet, .subscriptionsSet: "subscription.status.set"
        case .subscriptionGet: "subscription.status.get"
        // Assumed: the name.
        case .subscriptionUser: "subscription.groups.get"
        }
    }

    var method: HTTPRequest.Method {
        switch self {
        case .scheduledBroadcasts, .dataSeries, .subscriptionGet, .subscriptionUser: .get
        case .send, .track, .export, .delete, .nameAliases, .identify, .merge, .scheduleCreate, .scheduleUpdate,
            .scheduleDelete, .trigger, .triggerScheduleCreate,
            .triggerScheduleUpdate, .triggerScheduleDelete, .sendCreate, .subscriptionSet, .subscriptionsSet:
            .post
        }
    }

    /// The first parts of the vendor's paths. Unsupported paths below them are answered with 404 in the vendor's format.
    private static let families = [
        "/users", "/messages", "/campaigns", "/canvas", "/sends", "/subscription", "/v2/subscription", "/api/v3",
    ]

    static let laterRoute = "braze.later"

    static var routes: [VendorRoute] {
        allCases.map {
            VendorRoute(name: "braze.\($0)", path: .exact($0.rawValue), bodyLimitBytes: BrazeLimits.bodyBytes)
        }
            + SDKCall.routes
            + families.map {
                VendorRoute(name: laterRoute, path: .prefix($0), bodyLimitBytes: BrazeLimits.bodyBytes)
            }
    }

    /// The call of a request. Its path may end with a slash (docs/contracts/braze.md#1).
    ///
    /// - Throws: `AdapterError(.notFound)`, also for a wrong method (Assumed).
    init(_ request: VendorRequest) throws(AdapterError) {
        guard let call = BrazeCall(rawValue: request.canonicalPath), call.method == request.method else {
            throw AdapterError(.notFound)
        }
        self = call
    }
}

extension VendorRequest {
    /// The path without redundant slashes; empty if it is too long.
    var canonicalPath: String {
        guard path.utf8.count <= BrazeLimits.pathBytes else { return "" }
        return "/" + path.split(separator: "/").joined(separator: "/")
    }

    /// The decoded value of a query parameter.
    func parameter(_ name: String) -> String? { parameters(name).first }

    /// The values of a query parameter that may be repeated, also as `name[]`.
    func parameters(_ name: String) -> [String] {
        (query ?? "").split(separator: "&").prefix(BrazeLimits.parameterCount).compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let key = PercentCoding.decode(parts[0].utf8, plusIsSpace: true),
                key == name || key == name + "[]"
            else { return nil }
            return PercentCoding.decode(parts[1].utf8, plusIsSpace: true)
        }
    }

    /// The body as an object. It is parsed once.
    ///
    /// - Throws: `AdapterError(.unreadable)`.
    func brazeBody() throws(AdapterError) -> JSONObject {
        try once { (request) throws(AdapterError) in try request.bodyObject() }
    }
}
