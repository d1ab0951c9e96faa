import ArgumentParser
import CommandSupport
import Model

/// Apple's broadcast channels, through a running gateway's native API.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Manage Apple's broadcast channels, and send to one, through a running gateway.",
        discussion: """
            Uses /v1/apps/{app}/channels, with the API key from the environment variable PUSH_GATEWAY_KEY. The gateway forwards each \
            call to Apple and waits for the answer; it queues nothing.
            """,
        subcommands: [Create.self, List.self, Show.self, Delete.self, Send.self]
    )

    /// The app and environment of channels.
    struct Place: ParsableArguments {
        @Option(help: "The app.") var app: String
        @Option(help: "Apple's environment: production or sandbox.") var environment = "production"
        @OptionGroup var api: APIOptions

        /// The path of all channels, of one channel, or of an operation of a channel.
        func path(_ segments: String..., query: [(String, String?)] = []) -> String {
            let channels = (["/v1/apps/\(HTTPCaller.encode(app))/channels"] + segments.map(HTTPCaller.encode))
                .joined(separator: "/")
            return HTTPCaller.path(channels, [("environment", environment)] + query)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a channel; Apple chooses its id.")
        @Option(help: "none, or newest: Apple keeps the newest push for 8 hours for offline devices.")
        var storage = "none"
        @OptionGroup var place: Place

        func run() async throws {
            let body: JSON = ["storage": .string(storage)]
            let answer = try await place.api.call("channel create", "POST", place.path(), body)
            place.api.show(answer, ChannelCommand.text)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the app's channels.")
        @Option(help: "Number of channels to show.") var limit = 100
        @Option(help: "Show only the channels after this id.") var after: String?
        @OptionGroup var place: Place

        func run() async throws {
            let query = [("limit", "\(limit)")] + (after.map { [("after", $0)] } ?? [])
            let answer = try await place.api.call("channel list", "GET", place.path(query: query))
            place.api.show(answer) { answer in
                (answer["channels"]?.array ?? []).compactMap { $0["channel"]?.string }.joined(separator: "\n")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a channel.")
        @Argument(help: "The channel's id.") var channel: String
        @OptionGroup var place: Place

        func run() async throws {
            place.api.show(
                try await place.api.call("channel show", "GET", place.path(channel)),
                ChannelCommand.text
            )
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a channel. This cannot be undone.")
        @Argument(help: "The channel's id.") var channel: String
        @OptionGroup var place: Place

        func run() async throws {
            try await place.api.call("channel delete", "DELETE", place.path(channel))
            place.api.show(["channel": .string(channel), "deleted": true]) { _ in "deleted \(channel)" }
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Update or end the Live Activities that follow a channel."
        )
        @Argument(help: "The channel's id.") var channel: String
        @Option(help: "update or end.") var event: String
        @Option(help: "Removal from the screen, such as 2026-12-25T13:30:00Z.") var dismissalDate: String?
        @Option(help: "Expiration for offline devices; only for a channel with storage newest.")
        var expiration: String?
        @OptionGroup var activity: ActivityOptions
        @OptionGroup var place: Place

        func validate() throws { try activity.check() }

        func run() async throws {
            var body = activity.json
            body["event"] = .string(event)
            body["dismissalDate"] = dismissalDate.map { .string($0) }
            body["expiration"] = expiration.map { .string($0) }
            let answer = try await place.api.call("channel send", "POST", place.path(channel, "send"), .object(body))
            place.api.show(answer) { "accepted as \($0["requestId"]?.string ?? "?")" }
        }
    }

    fileprivate static func text(_ answer: JSON) -> String {
        let storage = answer["storage"]?.string ?? "unknown"
        return "\(answer["channel"]?.string ?? "?")  \(answer["environment"]?.string ?? "?")  keeps \(storage)"
    }
}
