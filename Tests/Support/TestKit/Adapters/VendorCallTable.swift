package import HTTPTypes
package import Model

/// Every route of every vendor, and the caller that it needs. Written by hand: the tests hold the adapters and the running gateway against it.
package enum VendorCallTable {
    package struct Row: Sendable, CustomStringConvertible {
        package var vendor: Vendor
        package var method: HTTPRequest.Method
        package var path: String
        /// Nil: not a call; refused before anything else.
        package var caller: CallerKind?

        package var description: String { "\(vendor) \(method) \(path)" }
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

    package static let all = rationalOwl + upmc + ipns + hubs + braze
}
