import Commands
import Model
import Postgres

/// How the native API spells what the store knows. Times are milliseconds since 1970; unknown ones are null; tokens are masked.
enum NativeShapes {
    static func message(_ facts: MessageFacts) -> JSON {
        [
            "id": .string(facts.id.description), "app": .string(facts.scope.app.rawValue),
            "vendor": .string(facts.scope.vendor.rawValue), "state": .string(facts.state.rawValue),
            "title": text(facts.content.title), "body": .string(facts.content.body),
            "acceptedAt": time(facts.acceptedAt),
            "dueAt": time(facts.dueAt), "localDue": text(facts.localDue?.description),
            "expiresAt": time(facts.expiresAt), "recipients": count(facts.recipients),
            "funnel": funnel(facts.funnel), "dead": .array(facts.dead.map(dead)),
        ]
    }

    /// The message after it was steered, and whether that changed anything.
    static func controlled(_ facts: MessageFacts, _ isChanged: Bool) -> JSON {
        guard var object = message(facts).object else { return .null }
        object["changed"] = .bool(isChanged)
        return .object(object)
    }

    /// Parts that gave up, by reason.
    private static func dead(_ part: DeadPart) -> JSON {
        ["reason": .string(part.reason), "slices": .int(part.slices), "targets": .int(part.targets)]
    }

    static func funnel(_ funnel: Funnel) -> JSON {
        [
            "recipients": count(funnel.recipients), "sent": .int(funnel.sent), "received": .int(funnel.received),
            "read": .int(funnel.read), "failed": .int(funnel.failed), "suppressed": .int(funnel.suppressed),
            "expired": .int(funnel.expired), "canceled": .int(funnel.canceled),
        ]
    }

    static func delivery(_ facts: DeliveryFacts) -> JSON {
        let snapshot = facts.snapshot
        return [
            "target": .string(snapshot.target.description), "device": text(facts.device?.description),
            "address": text(snapshot.address?.canonical), "state": .string(snapshot.state.rawValue),
            "reason": text(snapshot.reason), "sentAt": time(snapshot.sentAt), "receivedAt": time(snapshot.receivedAt),
            "readAt": time(snapshot.readAt), "transport": text(facts.transport),
            "transportId": text(facts.transportID?.lowercased), "certain": .bool(facts.isCertain),
            "attempts": .int(facts.attempts), "payloadBytes": .int(facts.payloadBytes), "reduced": text(facts.reduced),
        ]
    }

    static func device(_ facts: DeviceFacts) -> JSON {
        let identities = facts.identities.map { identity -> JSON in
            [
                "id": .string(identity.id.description), "vendor": .string(identity.vendor.rawValue),
                "key": .string(identity.key.rawValue), "state": .string(identity.state.rawValue),
                "user": text(identity.user?.rawValue), "name": text(identity.name), "phone": text(identity.phone),
                "acceptsPush": .bool(identity.acceptsPush), "attributes": .object(identity.attributes),
                "tags": .array(identity.tags.map { .string($0.text) }), "registeredAt": time(identity.registeredAt),
            ]
        }
        var object: JSONObject = [
            "id": .string(facts.id.description), "app": .string(facts.app.rawValue),
            "platform": .string(facts.platform.rawValue), "environment": .string(facts.environment.rawValue),
            "token": text(facts.token?.masked), "tokenState": .string(facts.tokenState.rawValue),
            "createdAt": time(facts.createdAt), "seenAt": time(facts.seenAt), "identities": .array(identities),
            "timeZone": text(facts.clock.timeZone?.text), "receivingWindow": window(facts.clock.window),
        ]
        if let unread = facts.unread { object["unread"] = .int(unread) }
        return .object(object)
    }

    static func window(_ window: DailyWindow?) -> JSON {
        window.map { ["from": .string(DailyWindow.text($0.from)), "to": .string(DailyWindow.text($0.to))] } ?? .null
    }

    static func group(_ facts: GroupFacts, app: AppID) -> JSON {
        [
            "app": .string(app.rawValue), "group": .string(facts.name.rawValue), "members": .int(facts.memberCount),
            "createdAt": time(facts.createdAt),
        ]
    }

    static func inboxItem(_ item: InboxItem) -> JSON {
        let notification = item.entry.notification
        return [
            "message": .string(notification.message.description), "app": .string(item.app.rawValue),
            "title": text(notification.content.title), "body": .string(notification.content.body),
            "sentAt": time(notification.sentAt), "state": .string(item.delivery.state.rawValue),
            "receivedAt": time(item.delivery.receivedAt), "readAt": time(item.delivery.readAt),
        ]
    }

    static func day(_ day: FunnelDay) -> JSON {
        [
            "app": .string(day.app.rawValue), "vendor": .string(day.vendor.rawValue), "day": time(day.day),
            "funnel": funnel(day.funnel),
        ]
    }

    static func webhook(_ facts: WebhookFacts, head: Int64) -> JSON {
        let state =
            if facts.isActive {
                facts.attempts == 0 ? "active" : "failing"
            } else {
                facts.failure == nil ? "paused" : "stopped"
            }
        return [
            "id": .string(facts.id.description), "url": .string(facts.url), "app": text(facts.filter.app?.rawValue),
            "kinds": .array(facts.filter.kinds.map { .string($0) }), "active": .bool(facts.isActive),
            "state": .string(state), "keyId": .string(facts.keyID), "createdAt": time(facts.createdAt),
            "cursor": .int(facts.cursor), "head": .int(head), "failures": .int(facts.attempts),
            "lastError": text(facts.failure),
        ]
    }

    static func audit(_ entry: AuditEntry) -> JSON {
        [
            "position": .int(entry.position), "at": time(entry.at), "actor": .string(entry.actor),
            "action": .string(entry.action), "subject": .string(entry.subject), "data": entry.data ?? .null,
        ]
    }

    private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    private static func time(_ time: Timestamp?) -> JSON { time.map { .int($0.milliseconds) } ?? .null }
    private static func count(_ count: Int?) -> JSON { count.map { .int($0) } ?? .null }
}
