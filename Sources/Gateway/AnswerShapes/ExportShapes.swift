import Foundation
package import Model
package import Store

/// The JSON forms of lines of exports.
package enum ExportShapes {
    package static let delivery = AnswerShape<ExportedDelivery>(
        "ExportedDelivery",
        [
            .text("cursor", "`after` of the call that continues with the next line.", example: "…") { $0.cursor.text },
            .id("message", "The message's id.") { $0.cursor.message.description },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .text("vendor", "The vendor of the call that sent it.", example: "native") { $0.vendor.rawValue },
            .optionalText("user", "The user.", example: "u-1") { $0.facts.user?.rawValue },
        ] + AnswerShape.members(NativeShapes.deliveryMembers) { $0.facts }
    )

    package static let event = AnswerShape<EventRecord>(
        "ExportedEvent",
        [
            .text("cursor", "`after` of the call that continues with the next line.", example: "42") { "\($0.offset)" },
            .time("at", "When it happened.") { $0.at },
            .text("kind", "The kind of event.", example: "sent") { $0.kind },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .optionalText("vendor", "The vendor; null: an event of a device.", example: "native") {
                $0.vendor?.rawValue
            },
            .optionalText("sender", "The back end that sent the message.") { $0.sender?.rawValue },
            .optionalID("message", "The message's id.") { $0.subject.message?.description },
            .optionalID("target", "The delivery's target.") { $0.subject.target?.description },
            .optionalID("identity", "The identity's id.") { $0.subject.identity?.description },
            .optionalID("device", "The device's id.") { $0.subject.device?.description },
            .optionalText("address", "How the caller named the target.") { $0.subject.address?.canonical },
            .optionalText("reason", "Why a delivery did not succeed.", example: "noDevice") { $0.reason },
            .init("data", .anything.described("Further data, which depends on the kind.")) { $0.data ?? .null },
        ]
    )

    package static let device = AnswerShape<DeviceFacts>(
        "ExportedDevice",
        [.text("cursor", "`after` of the call that continues with the next line.", example: "…") { $0.id.description }]
            + NativeShapes.device.members.filter { $0.name != "unread" }
    )
}
