import Adapters
import HTTPTypes
import Model
import Testing

@testable import Gateway

/// The caller that each route of each vendor needs. Written by hand: a call that no longer needs a sender fails here.
struct CallerKindTests {
    struct Row: Sendable, CustomStringConvertible {
        var vendor: Vendor
        var method: HTTPRequest.Method
        var path: String
        /// Nil: not a call; refused before anything else.
        var caller: CallerKind?

        var description: String { "\(vendor) \(method) \(path)" }
    }

    private static func rows(
        _ vendor: Vendor,
        _ caller: CallerKind?,
        _ method: HTTPRequest.Method = .post,
        _ paths: String...
    ) -> [Row] {
        paths.map { Row(vendor: vendor, method: method, path: $0, caller: caller) }
    }

    private static let rationalOwl =
        rows(
            .rationalOwl,
            .device,
            .post,
            "/pushApp/reqAuthNumber",
            "/pushApp/verifyAuthNumber",
            "/pushApp/installApp",
            "/pushApp/unregUser",
            "/pushApp/notiRead",
            "/pushApp/msgInfo",
            "/pushApp/imgData",
            "/ro/v1/device/register",
            "/ro/v1/device/token",
            "/ro/v1/device/unregister",
            "/ro/v1/device/state",
            "/ro/v1/noti/delivered",
            "/ro/v1/noti/opened"
        )
        + rows(
            .rationalOwl,
            .sender,
            .post,
            "/server/register/",
            "/msgClient/register",
            "/msgClient/msgClientSendMsgByPhoneNum",
            "/msgClient/sendMsg",
            "/msgClient/sendMsgByPhoneNum",
            "/msgClient/msgClientSendMsgByDeviceId",
            "/msgClient/sendMsgByDeviceId",
            "/msgClient/setCallbackUrl"
        )
        + rows(
            .rationalOwl,
            nil,
            .post,
            "/pushApp/x",
            "/msgClient/x",
            "/ro/v1/x",
            "/server/unregister/",
            "/deviceGroup/create/",
            "/downstream/broadcast/",
            "/custompush/broadcast/",
            "/tracking/msgStats/",
            "/sync/deviceIds/"
        )

    private static let upmc =
        rows(
            .upmc,
            .device,
            .post,
            "/upmc/asking_authorization.ctl",
            "/upmc/getEncriptKey.ctl",
            "/upmc/rcv_register_service.ctl",
            "/upmc/rcv_add_service.ctl",
            "/upmc/rcv_register_user.ctl",
            "/upmc/new_rcv_register_service_and_user.ctl",
            "/upmc/wpns_rcv_register_service_and_user.ctl",
            "/upmc/rcv_get_service.ctl",
            "/upmc/rcv_delete_service.ctl",
            "/upmc/rcv_delete_user.ctl",
            "/upmc/rcv_register_usergroup_user.ctl",
            "/upmc/rcv_delete_usergroup_user.ctl",
            "/upmc/rcv_register_sent_ack.ctl",
            "/upmc/rcv_register_send_result.ctl",
            "/upmc/rcv_init_badgeNo.ctl",
            "/upmc/rcv_appAlive.ctl",
            "/upmc/rcv_comm_configuration.ctl",
            "/upmc/reAllocateUpns.ctl",
            "/upmc/putAppLog.ctl",
            "/upmc/gw_get_message_list.ctl",
            "/upmc/gw_get_message.ctl",
            "/upmc/gw_get_unread_count.ctl",
            "/mobile/last-session",
            "/mobile/purchase",
            "/any/where/RCV_APPALIVE.CTL"
        ) + rows(.upmc, .device, .get, "/upmc/rcv_appAlive.ctl")
        + rows(
            .upmc,
            .sender,
            .post,
            "/upmc/rcv_register_message.ctl",
            "/upmc/rcv_register_groupmessage.ctl",
            "/upmc/rcv_register_csvmessage.ctl",
            "/upmc/rcv_register_usergroup.ctl",
            "/upmc/rcv_get_usergroup.ctl",
            "/upmc/rcv_delete_usergroup.ctl",
            "/upmc/rcv_get_usergroup_user.ctl",
            "/receiver/rcv_register_message.ctl",
            "/rcv_register_message.ctl",
            "/any/where/RCV_REGISTER_MESSAGE.CTL"
        )
        + rows(.upmc, nil, .get, "/upmc/rcv_register_message.ctl", "/rcv_get_usergroup_user.ctl", "/upmc/x")
        + rows(.upmc, nil, .options, "/upmc/rcv_register_message.ctl", "/upmc/rcv_appAlive.ctl")

    private static let ipns =
        rows(
            .ipns,
            .device,
            .post,
            "/ipns/appRegist",
            "/ipns/recvReport",
            "/ipns/readReport",
            "/ipns/updateConfig",
            "/ipns/getConfig",
            "/ipns/getMsgs",
            "/ipns/getMsgDetail",
            "/ipns/polling",
            "/ipns/unknown"
        ) + rows(.ipns, .sender, .post, "/ipns/send", "/ipns/a/SEND.do", "/ipns/x?cmd=send", "/ipns/send?cmd=getConfig")
        + rows(.ipns, .sender, .get, "/ipns/send")

    private static let hubs =
        rows(
            .notificationHubs,
            .credential,
            .post,
            "/hub/messages",
            "/hub/messages/$batch",
            "/hub/schedulednotifications",
            "/hub/registrationids",
            "/hub/registrations",
            "/hub/jobs",
            "/api/register",
            "/api/notifications",
            "/site/api/notifications"
        )
        + rows(
            .notificationHubs,
            .credential,
            .get,
            "/hub/messages/1",
            "/hub/tags/t/registrations",
            "/hub/registrations",
            "/hub/registrations/1",
            "/hub/installations/i",
            "/hub/feedbackcontainer",
            "/api/notifications/1"
        )
        + rows(.notificationHubs, .credential, .put, "/hub/installations/i", "/hub/registrations/1", "/api/register/1")
        + rows(
            .notificationHubs,
            .credential,
            .delete,
            "/hub/installations/i",
            "/hub/registrations/1",
            "/hub/schedulednotifications/1",
            "/api/register/1"
        ) + rows(.notificationHubs, .credential, .patch, "/hub/installations/i")
        + rows(.notificationHubs, nil, .get, "/hub/messages", "/hub/messages/1/2", "/site/api/x")

    private static let braze =
        rows(
            .braze,
            .credential,
            .post,
            "/messages/send",
            "/users/track",
            "/users/export/ids",
            "/users/delete",
            "/users/alias/new",
            "/users/identify",
            "/users/merge",
            "/messages/schedule/create",
            "/messages/schedule/update",
            "/messages/schedule/delete",
            "/campaigns/trigger/send",
            "/campaigns/trigger/schedule/create",
            "/campaigns/trigger/schedule/update",
            "/campaigns/trigger/schedule/delete",
            "/sends/id/create",
            "/subscription/status/set",
            "/v2/subscription/status/set"
        )
        + rows(
            .braze,
            .credential,
            .get,
            "/messages/scheduled_broadcasts",
            "/sends/data_series",
            "/subscription/status/get",
            "/subscription/user/status"
        )
        + rows(
            .braze,
            .device,
            .post,
            "/api/v3/data",
            "/api/v3/template",
            "/api/v3/content_cards/sync",
            "/api/v3/anything"
        )
        + rows(.braze, nil, .post, "/canvas/trigger/send", "/users/x", "/sends/x", "/messages/x", "/campaigns/x")

    static let table = rationalOwl + upmc + ipns + hubs + braze

    private static let mounts = VendorMounts(VendorCatalog.product.adapters)

    /// A call with the names of bindings and the credentials that any vendor looks for.
    private static func request(_ row: Row) throws -> (VendorMounts.Match, VendorRequest) {
        let parts = row.path.split(separator: "?").map(String.init)
        let match = try #require(mounts.match(path: parts[0], method: row.method), "\(row): no route")
        var headers: HTTPFields = [.contentType: "application/json", .authorization: "Bearer 0123456789abcdef0123"]
        for (name, value) in [("X-Braze-Api-Key", "sdk"), ("Host", "push.example.com")] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let body: JSON = [
            "aId": "a", "sId": "s", "serviceId": "s", "APP_ID": "a", "appId": "a", "cuid": "c", "api_key": "sdk",
        ]
        var bytes = JSONWriter.bytes(body)
        if row.vendor == .upmc, !parts[0].hasPrefix("/mobile") {
            headers[.contentType] = "application/x-www-form-urlencoded"
            bytes = Array("APP_ID=a".utf8)
        }
        var call = VendorRequest(
            route: match.route.name,
            method: row.method,
            path: parts[0],
            query: parts.count > 1 ? parts[1] : nil,
            headers: headers,
            body: bytes
        )
        if row.vendor == .ipns, row.method == .get { (call.query, call.body) = ("APP_ID=a", []) }
        return (match, call)
    }

    @Test(arguments: table) func aRouteNeedsItsCaller(_ row: Row) throws {
        let (match, call) = try Self.request(row)
        #expect(match.adapter.vendor == row.vendor)
        guard let caller = row.caller else {
            #expect(throws: AdapterError.self) { try match.adapter.locate(call) }
            return
        }
        #expect(try match.adapter.locate(call).1 == caller)
    }

    @Test func theTableNamesEveryRoute() throws {
        let named = Set(
            try Self.table.map { row in
                let match = try Self.request(row).0
                return "\(match.adapter.vendor) \(match.route.name)"
            }
        )
        let routes = Set(
            VendorCatalog.product.adapters.flatMap { adapter in
                adapter.routes.map { "\(adapter.vendor) \($0.name)" }
            }
        )
        #expect(routes.subtracting(named) == [])
    }

    // The settings of senders exist for the vendors that have senders, and for no other.
    @Test func aVendorWithSendersDeclaresThem() {
        let withSenders = Set(Self.table.filter { $0.caller == .sender }.map(\.vendor))
        let declaring = Set(VendorCatalog.product.adapters.filter { $0.senders != nil }.map(\.vendor))
        #expect(withSenders == [.rationalOwl, .upmc, .ipns] && declaring == withSenders)
    }
}
