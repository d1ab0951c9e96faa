package import Explain
import Model
import Store

/// The JSON form of a diagnosis.
extension DeviceDiagnosis {
    package static let shape = AnswerShape<DeviceDiagnosis>(
        "Diagnosis",
        [
            .id("device", "The device's id.") { $0.facts.device.id.description },
            .text("app", "The app.", example: "shop") { $0.facts.device.app.rawValue },
            .word("lane", among: Lane.allCases.map { "\($0)" }, "The lane of the message.") { "\($0.facts.lane)" },
            .time("at", "The time for which the answer holds.") { $0.facts.seenAt },
            .flag("reachable", "Whether a message of the lane would be sent to the device now.") { $0.isReachable },
            .text(
                "answer",
                "The first condition that prevents a push, or else the wait of the first message that waits, as a sentence.",
                example: "Nothing prevents a push to this device now."
            ) { $0.answer },
            .list("conditions", condition, "The conditions in the order in which they are examined.") {
                $0.conditions
            },
            .list(
                "clients",
                client,
                "The facts that the SDKs of the newest identities reported, the active ones first."
            ) {
                $0.facts.identities.filter { !$0.client.isEmpty }
            },
            .list("deliveries", delivery, "The latest deliveries with an outcome, the latest due first; at most 10.") {
                $0.facts.deliveries
            },
            .list(
                "waiting",
                waitingMessage,
                "The messages that wait: those that are due, the newest first, then those that are due later; at most 10."
            ) { $0.waiting },
            .flag(
                "waitingComplete",
                "Whether all open messages of the tenant were looked at. False: the search ended after 100, or after 10 that wait."
            ) { !$0.facts.hasMoreOpen },
        ]
    )

    private static let identity = AnswerShape<DiagnosedName>(
        "DiagnosedIdentity",
        [
            .id("id", "The identity's id.") { $0.id.description },
            .text("vendor", "The vendor whose identity it is.", example: "native") { $0.vendor.rawValue },
            .text("key", "The vendor's name for the device.", example: "phone-1") { $0.key.rawValue },
        ]
    )

    private static let client = AnswerShape<DiagnosedIdentity>(
        "DiagnosedClient",
        [
            .id("identity", "The identity's id.") { $0.target.identity.description },
            .text("vendor", "The vendor whose identity it is.", example: "native") { $0.target.vendor.rawValue },
        ] + AnswerShape.members(NativeShapes.client.members) { $0.client }
    )

    private static let condition = AnswerShape<DeviceCondition>(
        "Condition",
        [
            .word("condition", "The condition.") { $0.name },
            .init("met", .flag.nullable.described("Whether it is met; null: it is not known.")) {
                $0.isMet.map { .bool($0) } ?? .null
            },
            .flag("blocks", "Whether a message is not sent, or not yet, while it is not met.") { $0.blocks },
            .optionalTime("since", "Since when it has been in this state; null: not known.") { $0.since },
            .optionalTime("until", "When it will be met; null: not known.") { $0.until },
            .optionalShape("identity", identity, "The identity it is about; null: the device.") { $0.identity },
            .text("text", "The state, as a sentence.", example: "The device has a token.") { $0.text },
            .optionalText("action", "The recommended action; null: none.") { $0.action },
            .optionalText(
                "reason",
                "Why it is not met, if deliveries have the same reason; null: another one, or it is met.",
                example: "Unregistered"
            ) { $0.reason },
            .optionalText("credential", "The credential it is about; null: none.", example: "apple") {
                $0.credential?.rawValue
            },
        ]
    )

    private static let waitingMessage = AnswerShape<WaitingMessage>(
        "WaitingMessage",
        [
            .id("message", "The message's id.") { $0.facts.message.description },
            .optionalID("target", "The target; null: the audience is not read so far.") {
                $0.facts.target?.description
            },
            .flag("selected", "Whether the message selects the device; false: not known.") { $0.facts.isSelected },
            .text("vendor", "The vendor whose API sent it.", example: "native") { $0.facts.vendor.rawValue },
            .word("lane", among: Lane.allCases.map { "\($0)" }, "The lane of the message.") { "\($0.facts.lane)" },
            .word("because", "The cause of the wait.") { $0.cause },
            .time("since", "Since when it waits.") { $0.since },
            .optionalTime("until", "When it is tried next; null: not known.") { $0.until },
            .time("dueAt", "When the message is due.") { $0.facts.dueAt },
            .time("expiresAt", "When the message expires.") { $0.facts.expiresAt },
            .int("attempts", "How often it was returned to the queue.") { $0.facts.queue?.attempts ?? 0 },
            .optionalText("credential", "The credential or upstream that it waits for; null: none.", example: "apple") {
                $0.credential?.rawValue
            },
            .optionalText(
                "reason",
                "Why the credential was refused, or the message was given up; null: another cause.",
                example: "InvalidProviderToken"
            ) { $0.reason },
            .text("text", "The wait, as a sentence.", example: "A message to the device is paused.") { $0.text },
            .text("action", "The recommended action.", example: "Resume the message.") { $0.action },
        ]
    )

    private static let delivery = AnswerShape<DeliveryFacts>(
        "DiagnosedDelivery",
        [.id("message", "The message's id.") { $0.snapshot.message.description }]
            + NativeShapes.deliveryMembers
            + [
                .optionalText("meaning", "The meaning of the reason.") {
                    $0.snapshot.reason.flatMap(ReasonText.entry)?.meaning
                }
            ]
    )
}
