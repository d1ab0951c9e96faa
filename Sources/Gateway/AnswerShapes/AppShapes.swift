import Model
package import Store

/// The JSON forms of apps.
package enum AppShapes {
    private static let platform = AnswerShape<ListedApp.Route>(
        "AppPlatform",
        [
            .word("platform", "The platform.") { $0.platform },
            .text("topic", "Apple's topic.", example: "com.example.shop") { $0.topic },
            .init(
                "environments",
                .list(of: .words(PushEnvironment.allCases.map(\.rawValue))).described(
                    "The environments with a credential."
                )
            ) { .array($0.environments.map { .string($0.rawValue) }) },
        ]
    )

    package static let app = AnswerShape<ListedApp>(
        "App",
        [
            .text("app", "The app's id.", example: "shop") { $0.app.rawValue },
            .list("platforms", platform, "The platforms to which the app can send.") { $0.platforms },
            .optionalText(
                "timeZone",
                "The time zone of its days, and of devices that have none; null: UTC.",
                example: "Europe/Berlin"
            ) { $0.timeZone?.text },
            .time("createdAt", "When it was first provisioned.") { $0.createdAt },
            .optionalTime("retiredAt", "When it was removed; null: it is in use.") { $0.retiredAt },
            .word("origin", "`file`: a provisioning file changes it; `api`: calls do.") { $0.origin },
        ]
    )

    package static let page = AnswerPage("apps", app, next: .text(example: "shop"))
}
