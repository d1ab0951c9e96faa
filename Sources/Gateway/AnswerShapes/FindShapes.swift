import Model
package import Store

/// The JSON forms of found objects.
package enum FindShapes {
    private static let message = AnswerShape<FoundMessage>(
        "FoundMessage",
        [
            .id("id", "The message's id.") { $0.id.description },
            .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
            .text("vendor", "The vendor of the call.", example: "native") { $0.scope.vendor.rawValue },
            .word("state", "The state of the message.") { $0.state },
            .time("dueAt", "When the first target is due.") { $0.dueAt },
        ]
    )

    private static let identity = AnswerShape<FoundDevice.Identity>(
        "FoundIdentity",
        [
            .id("id", "The identity's id: `target` of its deliveries.") { $0.id.description },
            .text("vendor", "The vendor whose identity it is.", example: "native") { $0.vendor.rawValue },
            .text("key", "The vendor's name for the device.", example: "phone-1") { $0.key.rawValue },
            .word("state", "Only an active identity receives pushes.") { $0.state },
            .optionalText("user", "The user.", example: "u-1") { $0.user?.rawValue },
        ]
    )

    private static let device = AnswerShape<FoundDevice>(
        "FoundDevice",
        [
            .optionalID("id", "The device's id; null: the identity has lost its device.") { $0.id?.description },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .optionalText("platform", "The platform.", example: "ios") { $0.destination?.platform.rawValue },
            .optionalText("environment", "Apple's environment of the token.", example: "production") {
                $0.destination?.environment.rawValue
            },
            .optionalText("token", "The push token, masked.", example: "8d7c2b…504f") {
                $0.destination?.token?.masked
            },
            .optionalText("tokenState", "Whether the token can be used.", example: "active") {
                $0.destination?.tokenState.rawValue
            },
            .optionalTime("seenAt", "When it last called.") { $0.seenAt },
            .list("identities", identity, "The identities that have the name; of a device or token: all of them.") {
                $0.identities
            },
        ]
    )

    private static let user = AnswerShape<FoundUser>(
        "FoundUser",
        [
            .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
            .text("vendor", "The vendor of the back end that described the user.", example: "native") {
                $0.scope.vendor.rawValue
            },
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
        ]
    )

    private static let match = AnswerShape<FoundObjects>(
        "Match",
        [
            .word("kind", "The kind of name that the text is for these objects.") { $0.kind },
            .list("messages", message, "The messages; without their content.") { $0.messages },
            .list("devices", device, "The devices.") { $0.devices },
            .list("users", user, "The descriptions of the user, with or without a device.") { $0.users },
            .flag("more", "Whether there are more objects: at most \(FoundObjects.limit) are returned.") { $0.isCut },
        ]
    )

    package static let found = AnswerShape<[FoundObjects]>(
        "Found",
        [.list("matches", match, "One entry for each kind of name that matches; empty: nothing has this name.") { $0 }]
    )
}
