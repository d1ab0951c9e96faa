import APNs
import AnswerShapes
import AppleCalls
import ApplePayload
import GatewayHTTP
import Hummingbird
import Model

/// `/v1/apps/{app}/channels`: Apple's broadcast channels. Each call is forwarded to Apple; nothing is queued or stored.
enum ChannelOperations {
    static let all = [create, list, show, delete, send]

    static let environment = QueryField.optional(
        "environment",
        .word(PushEnvironment.self),
        default: .production,
        as: .string(PushEnvironment.production.rawValue),
        "Apple's environment. A channel belongs to one."
    )
    static let channel = PathField.required("channel", .channel, "The channel's id, percent-encoded.")

    /// The pushes that Apple keeps for devices that are offline.
    enum Storage: String, Sendable, CaseIterable {
        case none, newest
    }

    /// A channel, with the properties that Apple returned.
    struct Shown: Sendable {
        var channel: ChannelID
        var environment: PushEnvironment
        var storage: ChannelStorage
    }

    static let shown = AnswerShape<Shown>(
        "Channel",
        [
            .text("channel", "The channel's id, as Apple made it.", example: "dHN0LXNyY2gtY2hubA==") {
                $0.channel.text
            },
            .word("environment", "Apple's environment.") { $0.environment },
            .optionalText("storage", "The pushes that Apple keeps: none or newest; null: an unknown policy.") {
                switch $0.storage {
                case .none: Storage.none.rawValue
                case .newest: Storage.newest.rawValue
                case .unknown: nil
                }
            },
        ]
    )

    private static let problems: [ProblemCode] = [
        .notFound, .rateLimited, .noCredential, .pushServiceRefused, .pushServiceFailed,
    ]

    struct CreateInput: InputFields {
        let app = CommonInputs.app
        let environment = ChannelOperations.environment
        let storage = BodyField.required(
            "storage",
            .word(Storage.self),
            "none: nothing is kept, and more may be sent. newest: the newest push, for at most 8 hours. It cannot be changed."
        )
    }

    static let create = NativeOperation(
        "createChannel",
        .post,
        "/v1/apps/{app}/channels",
        scope: .send,
        "Create a broadcast channel at Apple, which chooses its id. Each call creates one.",
        input: CreateInput(),
        example: ["storage": "newest"],
        answers: [.json(201, shown.schema, "The channel was created.")],
        problems: problems,
        NativeAPI.createChannel
    )

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let environment = ChannelOperations.environment
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let listed = AnswerShape<ChannelID>(
        "ListedChannel",
        [.text("channel", "The channel's id.", example: "dHN0LXNyY2gtY2hubA==") { $0.text }]
    )

    static let page = AnswerPage("channels", listed, next: .text(example: "dHN0LXNyY2gtY2hubA=="))

    static let list = NativeOperation(
        "listChannels",
        .get,
        "/v1/apps/{app}/channels",
        scope: .read,
        "List an app's broadcast channels by id, as Apple knows them.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of channels.")],
        problems: problems,
        NativeAPI.listChannels
    )

    struct ChannelInput: InputFields {
        let app = CommonInputs.app
        let channel = ChannelOperations.channel
        let environment = ChannelOperations.environment
    }

    static let show = NativeOperation(
        "showChannel",
        .get,
        "/v1/apps/{app}/channels/{channel}",
        scope: .read,
        "Show a broadcast channel, as Apple knows it.",
        input: ChannelInput(),
        answers: [.json(shown.schema, "The channel.")],
        problems: problems,
        NativeAPI.showChannel
    )

    static let delete = NativeOperation(
        "deleteChannel",
        .delete,
        "/v1/apps/{app}/channels/{channel}",
        scope: .send,
        "Delete a broadcast channel at Apple. This cannot be undone.",
        input: ChannelInput(),
        answers: [.empty("The channel is deleted.")],
        problems: problems,
        NativeAPI.deleteChannel
    )

    /// The effect of a broadcast on the activities of a channel. A broadcast cannot start an activity; apps or pushes to single devices do.
    enum Event: String, Sendable, CaseIterable {
        case update, end
    }

    struct SendInput: InputFields {
        let app = CommonInputs.app
        let channel = ChannelOperations.channel
        let environment = ChannelOperations.environment
        let event = BodyField.required("event", .word(Event.self), "The effect on the activities of the channel.")
        let contentState = ActivityFields.contentState
        let alert = ActivityFields.alert
        let staleDate = ActivityFields.staleDate
        let dismissalDate = ActivityFields.dismissalDate
        let relevanceScore = ActivityFields.relevanceScore
        let timestamp = ActivityFields.timestamp
        let priority = ActivityFields.priority
        let expiration = BodyField.optional(
            "expiration",
            .time,
            "The time until which Apple keeps the push for offline devices; null: it is not kept. Only for channels with storage newest."
        )
    }

    struct Sent: Sendable {
        var requestID: String
        var logKey: String?
    }

    static let sent = AnswerShape<Sent>(
        "SentBroadcast",
        [
            .text("requestId", "Apple's id of the request.", example: "8d7c2b1a-0f9e-4d7c-8b5a-493827160504") {
                $0.requestID
            },
            .optionalText("logKey", "The key to Apple's delivery log; sandbox only.") { $0.logKey },
        ]
    )

    static let send = NativeOperation(
        "sendToChannel",
        .post,
        "/v1/apps/{app}/channels/{channel}/send",
        scope: .send,
        allowsLimitedReach: true,
        "Update or end the Live Activities that follow a channel. The call waits for Apple's answer; nothing is queued.",
        input: SendInput(),
        example: ["event": "update", "contentState": ["home": 2, "guest": 1]],
        answers: [.json(sent.schema, "Apple accepted it.")],
        problems: problems,
        NativeAPI.sendToChannel
    )
}

extension InputKind where Value == ChannelID {
    /// The channel id in the path. An invalid id is answered like an unknown one.
    static let channel = InputKind(.text(example: "dHN0LXNyY2gtY2hubA==")) { (json, _) throws(Problem) in
        guard let id = json.string.flatMap({ ChannelID($0) }) else { throw .notFound("no such channel") }
        return id
    }
}

extension NativeAPI {
    private func scope<Input>(
        _ call: NativeCall<Input>,
        _ app: AppID,
        _ environment: PushEnvironment
    ) async throws(Problem) -> AppleChannels.Scope {
        try await known(app, call.caller)
        return AppleChannels.Scope(tenant: call.tenant, app: app, environment: environment)
    }

    func createChannel(_ call: NativeCall<ChannelOperations.CreateInput>) async throws(Problem) -> Response {
        let storage: ChannelStorage = try call.storage == .newest ? .newest : .none
        let scope = try await scope(call, try call.app, try call.environment)
        guard case .created(let channel) = try await channels.manage(.create(storage), scope) else {
            throw .unavailable(5)
        }
        let shown = ChannelOperations.Shown(channel: channel, environment: scope.environment, storage: storage)
        return .json(ChannelOperations.shown.json(shown), status: .created)
    }

    func listChannels(_ call: NativeCall<ChannelOperations.ListInput>) async throws(Problem) -> Response {
        let after = try call.after ?? ""
        let limit = try call.limit
        let scope = try await scope(call, try call.app, try call.environment)
        guard case .channels(let all) = try await channels.manage(.list, scope) else { throw .unavailable(5) }
        let page = all.filter { $0.text > after }.sorted { $0.text < $1.text }.prefix(limit)
        return .json(ChannelOperations.page.json(Array(page), limit: limit) { .string($0.text) })
    }

    func showChannel(_ call: NativeCall<ChannelOperations.ChannelInput>) async throws(Problem) -> Response {
        let channel = try call.channel
        let scope = try await scope(call, try call.app, try call.environment)
        guard case .channel(let storage, _) = try await channels.manage(.read(channel), scope) else {
            throw .unavailable(5)
        }
        let shown = ChannelOperations.Shown(channel: channel, environment: scope.environment, storage: storage)
        return .json(ChannelOperations.shown.json(shown))
    }

    func deleteChannel(_ call: NativeCall<ChannelOperations.ChannelInput>) async throws(Problem) -> Response {
        let channel = try call.channel
        let scope = try await scope(call, try call.app, try call.environment)
        _ = try await channels.manage(.delete(channel), scope)
        return Response(status: .noContent)
    }

    func sendToChannel(_ call: NativeCall<ChannelOperations.SendInput>) async throws(Problem) -> Response {
        let channel = try call.channel
        try call.caller.requireSending(to: .broadcast, of: try call.app)
        let dismissal = try call.dismissalDate
        let isEnd = try call.event == .end
        if !isEnd, dismissal != nil { throw .invalid("dismissalDate", "is allowed only with the event end") }
        let activity = LiveActivity(
            isEnd ? .end(dismissalDate: dismissal) : .update,
            timestamp: try call.timestamp ?? clock.now(),
            contentState: try call.contentState,
            alert: try call.alert,
            staleDate: try call.staleDate,
            relevanceScore: try call.relevanceScore
        )
        let priority = try call.priority
        let expiration = try call.expiration
        let scope = try await scope(call, try call.app, try call.environment)
        let (requestID, logKey) = try await channels.send(
            activity,
            to: channel,
            priority: priority,
            expiresAt: expiration,
            scope
        )
        return .json(ChannelOperations.sent.json(.init(requestID: requestID, logKey: logKey)))
    }
}
