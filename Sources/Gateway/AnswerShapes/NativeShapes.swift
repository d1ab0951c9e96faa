import ApplePayload
import Commands
import Explain
package import Model
package import Store

/// The JSON forms of stored facts in the native API and in the commands' `--json`. Times are RFC 3339, unknown values are null, tokens are masked.
package enum NativeShapes {
    package static let funnel = AnswerShape<Funnel>(
        "Funnel",
        [
            .optionalInt("recipients", "Targets; null while the audience is being expanded.") { $0.recipients },
            .int("sent", "The older name of `reached`. The `sent` of `/v1/analytics` also counts rejected pushes.") {
                $0.sent
            },
            .int("reached", "Accepted by the push service, or sent without an answer.") { $0.sent },
            .int("received", "Reported as received by the device.") { $0.received },
            .int("read", "Reported as read.") { $0.read },
            .int("failed", "Rejected by the push service.") { $0.failed },
            .int("suppressed", "Not tried; each delivery has the reason.") { $0.suppressed },
            .int("expired", "Not sent in time.") { $0.expired },
            .int("canceled", "Canceled before they were sent.") { $0.canceled },
        ]
    )

    private static let dead = AnswerShape<DeadPart>(
        "FailedPart",
        [
            .text("reason", "Why the gateway stopped trying the part.", example: "noCredential") { $0.reason },
            .int("slices", "Parts with this reason.") { $0.slices },
            .int("targets", "Targets in them without an outcome.") { $0.targets },
        ]
    )

    private static let shownTitle = "The title; of a payload in the vendor's own form, that of its alert."
    private static let shownBody =
        "The text; of a payload in the vendor's own form, that of its alert; of a send that fills templates, its values, one per line."

    private static let messageMembers: [AnswerShape<MessageFacts>.Member] = [
        .id("id", "The message's id.") { $0.id.description },
        .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
        .text("vendor", "The vendor of the call; `native` for this API.", example: "native") {
            $0.scope.vendor.rawValue
        },
        .word("state", "The state of the message.") { $0.state },
        .optionalText(
            "submittedBy",
            "The API key that sent it; null: a vendor's call without a key of the gateway.",
            example: "key:crm"
        ) {
            $0.submitter
        },
        .optionalText("title", shownTitle, example: "Hello") { ShownText($0.content).title }.content,
        .text("body", shownBody, example: "Your parcel is here.") { ShownText($0.content).body }.content,
        .optionalText("campaign", "The campaign under which it is counted.", example: "spring") { $0.content.campaign },
        .optionalText("variant", "The part of the campaign.", example: "b") { $0.content.campaignVariant },
        .time("acceptedAt", "When it was accepted.") { $0.acceptedAt },
        .time("dueAt", "When the first target is due.") { $0.dueAt },
        .optionalText("localDue", "The local time in each device's time zone, if the call specified one.") {
            $0.localDue?.description
        },
        .time("expiresAt", "Nothing is sent after this.") { $0.expiresAt },
        .optionalInt("recipients", "Targets; null while the audience is being expanded.") { $0.recipients },
    ]

    /// A message in a list.
    package static let messageSummary = AnswerShape<MessageFacts>(
        "MessageSummary",
        messageMembers + [
            .init(
                "funnel",
                funnel.schema.described("Counts by stage; absent without `counts`."),
                isRequired: false
            ) { $0.isCounted ? funnel.json($0.funnel) : nil }
        ]
    )

    package static let message = AnswerShape<MessageFacts>(
        "Message",
        messageMembers + [
            .shape("funnel", funnel, "Counts by stage.") { $0.funnel },
            .list("dead", dead, "Parts that the gateway stopped trying, by reason. A requeue tries them again.") {
                $0.dead
            },
            .init(
                "content",
                SentContent.schema.nullable.described(
                    "The members of `sendMessage` with which it can be sent again, without audience and times; null: it was sent in a vendor's own form, or to a Live Activity."
                ),
                write: { SentContent.json($0) }
            ).content,
        ]
    )

    /// The changed message, and whether the call changed anything: the output of `message pause` and similar commands.
    package static func controlled(_ facts: MessageFacts, _ isChanged: Bool) -> JSON {
        var object = message.object(facts)
        object["changed"] = .bool(isChanged)
        return .object(object)
    }

    package static let deliveryMembers: [AnswerShape<DeliveryFacts>.Member] = [
        .id("target", "The target's id.") { $0.snapshot.target.description },
        .optionalID("device", "The device's id; null: the device was erased, or the target had none.") {
            $0.device?.description
        },
        .optionalText("address", "How the caller named the target.", example: "key:phone-1") {
            $0.snapshot.address?.canonical
        },
        .word("state", "The state of the delivery.") { $0.snapshot.state },
        .optionalText("reason", "Why it did not succeed.", example: "noDevice") { $0.snapshot.reason },
        .optionalTime("sentAt", "When its outcome was known: the push service's answer to a push.") {
            $0.snapshot.sentAt
        },
        .optionalTime("receivedAt", "When the device received it.") { $0.snapshot.receivedAt },
        .optionalTime("readAt", "When it was read.") { $0.snapshot.readAt },
        .optionalText("transport", "The push service; null: nothing was sent.", example: "apns") { $0.transport },
        .optionalID("transportId", "The push service's id, `apns-id`.") { $0.transportID?.lowercased },
        .flag("certain", "False: the connection was lost before the push service answered.") { $0.isCertain },
        .int("attempts", "How often it was tried.") { $0.attempts },
        .int("payloadBytes", "The size of the payload.") { $0.payloadBytes },
        .optionalText("reduced", "The parts that were shortened or left out to fit the size limit.") { $0.shortened },
        .optionalText(
            "deviceVendor",
            "The vendor of the device's SDK, where it does not follow from the message's vendor.",
            example: "upmc"
        ) { $0.deviceVendor?.rawValue },
        .optionalInt("transportMilliseconds", "How long the push service took to answer; null: no answer.") {
            $0.latency
        },
    ]

    package static let delivery = AnswerShape<DeliveryFacts>("Delivery", deliveryMembers)

    package static let window = AnswerShape<DailyWindow>(
        "DailyWindow",
        [
            .text("from", "The first minute, HHMM.", example: "0800") { DailyWindow.text($0.from) },
            .text("to", "The last minute, HHMM.", example: "2200") { DailyWindow.text($0.to) },
        ]
    )

    package static let identity = AnswerShape<IdentityEntry>(
        "Identity",
        [
            .id("id", "The identity's id: `target` of its deliveries.") { $0.id.description },
            .text("vendor", "The vendor whose identity it is.", example: "native") { $0.vendor.rawValue },
            .text("key", "The vendor's name for the device.", example: "phone-1") { $0.key.rawValue },
            .word("state", "Only an active identity receives pushes.") { $0.state },
            .optionalText("user", "The user.", example: "u-1") { $0.user?.rawValue },
            .optionalText("name", "The user's display name.") { $0.name },
            .optionalText("phone", "The phone number.", example: "821012345678") { $0.phone },
            .flag("acceptsPush", "Whether pushes are sent to it.") { $0.acceptsPush },
            .anyObject("attributes", "The attributes of the registration.") { $0.attributes },
            .texts("tags", "Its tags.", example: "seoul") { $0.tags.map(\.text) },
            .time("registeredAt", "When it was last registered.") { $0.registeredAt },
            .word("assurance", "How well its user is known to be right.") { $0.assurance },
            .optionalShape(
                "client",
                client,
                "The facts that its SDK reported about the app and the system; null: none."
            ) {
                $0.client.isEmpty ? nil : $0.client
            },
        ]
    )

    package static let client = AnswerShape<ClientFacts>(
        "Client",
        [
            .optionalText("appVersion", "The version of the app.", example: "2.4.3") { $0[.appVersion] },
            .optionalText("os", "The name of the operating system.", example: "iOS") { $0[.os] },
            .optionalText("osVersion", "The version of the operating system.", example: "17.5") { $0[.osVersion] },
            .optionalText("sdkVersion", "The version of the vendor's SDK.", example: "4.4.1") { $0[.sdkVersion] },
            .optionalText("model", "The model of the device.", example: "iPhone15,2") { $0[.model] },
            .optionalText("locale", "The language and region of the device.", example: "ko_KR") { $0[.locale] },
        ]
    )

    package static let device = AnswerShape<DeviceFacts>(
        "Device",
        [
            .id("id", "The device's id.") { $0.id.description },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .word("platform", "The platform.") { $0.platform },
            .word("environment", "Apple's environment of the token.") { $0.environment },
            .optionalText("token", "The push token, masked.", example: "8d7c2b…504f") { $0.token?.masked },
            .word("tokenState", "Whether the token can be used.") { $0.tokenState },
            .time("createdAt", "When it was first registered.") { $0.createdAt },
            .optionalTime("seenAt", "When it last called.") { $0.seenAt },
            .list("identities", identity, "The device's identities, one per vendor key.") { $0.identities },
            .optionalText("timeZone", "Its time zone.", example: "Asia/Seoul") { $0.clock.timeZone?.text },
            .optionalShape("receivingWindow", window, "When it may be notified.") { $0.clock.window },
            .init(
                "unread",
                .integer(0...Int64(HistoryPage.lookLimit)).described(
                    "Unread messages among the newest \(HistoryPage.lookLimit) of the device, whoever used it. Not in lists."
                ),
                isRequired: false
            ) { $0.unread.map { .int($0) } },
        ]
    )

    package static let inboxItem = AnswerShape<InboxItem>(
        "InboxMessage",
        [
            .id("message", "The message's id.") { $0.entry.notification.message.description },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .optionalText("title", shownTitle) { ShownText($0.entry.notification.content).title }.content,
            .text("body", shownBody) { ShownText($0.entry.notification.content).body }.content,
            .time("sentAt", "When the message was due.") { $0.entry.notification.sentAt },
            .word("state", "The state of the delivery to this device.") { $0.delivery.state },
            .optionalTime("receivedAt", "When the device received it.") { $0.delivery.receivedAt },
            .optionalTime("readAt", "When it was read.") { $0.delivery.readAt },
        ]
    )

    package static let audit = AnswerShape<AuditEntry>(
        "AuditEntry",
        [
            .int64("position", "Grows by one, in the order of commits.") { $0.position },
            .time("at", "When the action was performed.") { $0.at },
            .text("actor", "The API key, command or service that performed the action.", example: "key:backend") {
                $0.actor
            },
            .text("action", "The action.", example: "erase_device") { $0.action },
            .text("subject", "The object of the action.", example: "device 0198a1f0-7c00-7000-8000-000000000001") {
                $0.subject
            },
            .init("data", .anything.described("Details; null: there are none.")) { $0.data ?? .null },
        ]
    )
}
