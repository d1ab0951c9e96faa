package import Model
package import Store

/// The JSON forms of users.
package enum UserShapes {
    package static let listed = AnswerShape<ListedUser>(
        "ListedUser",
        [
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
            .int("devices", "Active devices of the user.") { $0.devices },
        ]
    )

    private static let alias = AnswerShape<UserAlias>(
        "UserAlias",
        [.text("label") { $0.label }, .text("name") { $0.name }]
    )

    private static let act = AnswerShape<ActTally>(
        "UserActivity",
        [
            .word("kind", "The kind of activity.") { $0.kind },
            .text("name", "The name of the activity.", example: "signed_up") { $0.name },
            .int("count", "How often it happened.") { $0.count },
            .time("firstAt", "When it first happened.") { $0.firstAt },
            .time("lastAt", "When it last happened.") { $0.lastAt },
        ]
    )

    // No operation shows tokens.
    private static let device = AnswerShape<UserDevice>(
        "UserDevice",
        [
            .text("key", "The device's key.", example: "phone-1") { $0.key.rawValue },
            .word("platform", "Its platform.") { $0.platform },
            .flag("acceptsPush", "Whether pushes are sent to it.") { $0.acceptsPush },
            .flag("hasToken", "Whether it has a push token.") { $0.token != nil },
        ]
    )

    private static let consentSchema = JSONSchema.map(of: .words(ConsentState.allCases.map(\.rawValue)))
        .example(["news": "subscribed"])

    private static func consents(_ user: DescribedUser) -> JSON {
        .object(JSONObject(user.consents.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value.rawValue)) }))
    }

    package static let user = AnswerShape<DescribedUser>(
        "User",
        [
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
            .anyObject("attributes", "The user's attributes.") { $0.attributes },
            .init("consents", consentSchema.described("By subject."), write: consents),
            .list("aliases", alias, "Other names of the user.") { $0.aliases },
            .list("acts", act, "The user's activities, with counts.") { $0.tallies },
            .list("devices", device, "The user's devices.") { $0.devices },
        ]
    )

    package static let consentsOfUser = AnswerShape<DescribedUser>(
        "UserConsents",
        [
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
            .init("consents", consentSchema.described("By subject."), write: consents),
        ]
    )
}
