package import AudienceStore
package import Model

/// The JSON and CSV forms of groups and their members.
package enum GroupShapes {
    /// A group of an app.
    package struct Listed: Sendable {
        package var facts: GroupFacts
        package var app: AppID

        package init(facts: GroupFacts, app: AppID) {
            self.facts = facts
            self.app = app
        }
    }

    package static let group = AnswerShape<Listed>(
        "Group",
        [
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .text("group", "The group's name.", example: "early birds") { $0.facts.name.rawValue },
            .int("members", "Users in the group, with or without a device.") { $0.facts.memberCount },
            .time("createdAt", "When it was created.") { $0.facts.createdAt },
        ]
    )

    package static let member = AnswerShape<ListedMember>(
        "Member",
        [
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
            .optionalText("name", "The name in the user's newest registration; null: none.", example: "Kim") {
                $0.name
            },
            .optionalText("phone", "The phone number in it; null: none.", example: "821012345678") { $0.phone },
            .flag("registered", "Whether an app is registered for the user now.") { $0.isRegistered },
        ]
    )

    package static let memberColumns = ["user", "name", "phone", "registered"]
    package static let memberExample = "user,name,phone,registered\r\nu-1,Kim,821012345678,true\r\n"

    package static func cells(_ member: ListedMember) -> [String] {
        [member.user.rawValue, member.name ?? "", member.phone ?? "", member.isRegistered ? "true" : "false"]
    }
}
