import ArgumentParser
import CommandSupport
import Model

/// Starts and changes Live Activities through a running gateway's native API.
struct LiveActivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activity",
        abstract: "Start, update and end Live Activities through a running gateway.",
        discussion: """
            Uses /v1/apps/{app}/live-activities, with the API key from the environment variable PUSH_GATEWAY_KEY. Each push \
            belongs to a message: 'message show' shows its state.
            """,
        subcommands: [Start.self, Update.self, End.self]
    )

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start an activity on devices that reported a push-to-start token."
        )

        @Option(help: "The app.") var app: String
        @Option(help: "The Swift type of the activity's attributes.") var attributesType: String
        @Option(help: "The activity's attributes, a JSON object.") var attributes: JSONArgument
        @Flag(help: "Request a token with which the activity can be updated (iOS 18).") var inputPushToken = false
        @Option(help: "Let the activity follow this channel (iOS 18).") var inputPushChannel: String?
        @OptionGroup var audience: AudienceOptions
        @OptionGroup var activity: ActivityOptions
        @OptionGroup var api: APIOptions

        func validate() throws {
            try audience.check()
            try activity.check()
        }

        func run() async throws {
            var body = activity.json
            body["to"] = audience.json
            body["attributesType"] = .string(attributesType)
            body["attributes"] = .object(attributes.object)
            if inputPushToken { body["inputPushToken"] = true }
            body["inputPushChannel"] = inputPushChannel.map { .string($0) }
            let path = "/v1/apps/\(HTTPCaller.encode(app))/live-activities"
            api.show(try await api.call("activity start", "POST", path, .object(body)), LiveActivityCommand.text)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Update an activity on the devices that reported a token for it."
        )
        @OptionGroup var change: ChangeOptions
        func validate() throws { try change.check() }
        func run() async throws { try await change.run("update") }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End an activity on the devices that reported a token for it."
        )
        @Option(help: "Removal from the screen, such as 2026-12-25T13:30:00Z. Default: the system decides.")
        var dismissalDate: String?
        @OptionGroup var change: ChangeOptions

        func validate() throws {
            try change.check()
            guard change.activity.staleDate == nil, change.activity.relevanceScore == nil else {
                throw ValidationError("activity end does not accept --stale-date or --relevance-score")
            }
        }

        func run() async throws { try await change.run("end", dismissalDate: dismissalDate) }
    }

    fileprivate static func text(_ answer: JSON) -> String {
        let recipients = answer["recipients"]?.int.map { "\($0) recipients" } ?? "recipients are being counted"
        return "message \(answer["id"]?.string ?? "?"): \(recipients)"
    }
}

/// The running activity, and the options of the change.
struct ChangeOptions: ParsableArguments {
    @Argument(help: "The app's name for the activity.") var name: String
    @Option(help: "The app.") var app: String
    @OptionGroup var audience: AudienceOptions
    @OptionGroup var activity: ActivityOptions
    @OptionGroup var api: APIOptions

    func check() throws {
        try audience.check(isRequired: false)
        try activity.check()
    }

    func run(_ event: String, dismissalDate: String? = nil) async throws {
        var body = activity.json
        body["to"] = audience.json
        body["dismissalDate"] = dismissalDate.map { .string($0) }
        let path = "/v1/apps/\(HTTPCaller.encode(app))/live-activities/\(HTTPCaller.encode(name))/\(event)"
        api.show(try await api.call("activity \(event)", "POST", path, .object(body)), LiveActivityCommand.text)
    }
}
