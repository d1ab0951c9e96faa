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
                "The first condition that prevents a push, as a sentence.",
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
