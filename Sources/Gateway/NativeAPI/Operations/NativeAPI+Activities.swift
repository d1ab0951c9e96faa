import AnswerShapes
import ApplePayload
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// Carries out `ActivityOperations`.
extension NativeAPI {
    func reportLiveActivityToken(_ call: NativeCall<ActivityOperations.ReportInput>) async throws(Problem) -> Response {
        let activity: ActivityReference
        switch (try call.attributesType, try call.activity) {
        case (let type?, nil): activity = ActivityReference(.start, type)
        case (nil, let name?): activity = ActivityReference(.running, name)
        case (nil, nil), (_?, _?): throw .invalid("activity", "give either activity or attributesType")
        }
        var token: DeviceToken?
        if let text = try call.token {
            token = DeviceToken(apns: text)
            if token == nil {
                throw .invalid("token", "must be an even number of hexadecimal digits")
            }
        }
        let facts = try await device(try call.device, in: call.tenant)
        guard facts.platform == .ios else { throw .invalid("device", "is not an Apple device") }
        _ = try await ask(.report(facts.id, activity, token), call.caller, app: facts.app)
        return Response(status: .noContent)
    }

    func showLiveActivityTokens(_ call: NativeCall<ActivityOperations.TokensInput>) async throws(Problem) -> Response {
        let facts = try await device(try call.device, in: call.tenant)
        guard case .tokens(let tokens) = try await ask(.tokens(facts.id), call.caller, app: facts.app) else {
            throw .unavailable(5)
        }
        call.found(tokens.count)
        return .json(ActivityOperations.tokens.json(tokens))
    }

    func startLiveActivity(_ call: NativeCall<ActivityOperations.StartInput>) async throws(Problem) -> Response {
        let type = try call.attributesType
        let start = LiveActivity.Start(
            attributesType: type,
            attributes: try call.attributes,
            asksForToken: try call.inputPushToken,
            channel: try call.inputPushChannel
        )
        let activity = LiveActivity(
            .start(start),
            timestamp: try call.timestamp ?? clock.now(),
            contentState: try call.contentState,
            alert: try call.alert,
            staleDate: try call.staleDate,
            relevanceScore: try call.relevanceScore
        )
        let content = try Self.content(activity, ActivityReference(.start, type), priority: try call.priority)
        let audience = try call.to
        let submission = Submission(
            content: content,
            audience: audience,
            timing: SubmissionTiming(timeToLive: try call.ttlSeconds.map { .seconds($0) }),
            lane: Self.lane(content, audience)
        )
        return try await accept(submission, call, app: try call.app, once: try call.once)
    }

    func updateLiveActivity(_ call: NativeCall<ActivityOperations.UpdateInput>) async throws(Problem) -> Response {
        let activity = LiveActivity(
            .update,
            timestamp: try call.timestamp ?? clock.now(),
            contentState: try call.contentState,
            alert: try call.alert,
            staleDate: try call.staleDate,
            relevanceScore: try call.relevanceScore
        )
        let app = try call.app
        let name = try call.activity
        let content = try Self.content(activity, ActivityReference(.running, name), priority: try call.priority)
        let timeToLive = try call.ttlSeconds
        let once = try call.once
        let audience = try await audience(try call.to, of: name, call.caller, app: app)
        let submission = Self.change(content, audience, timeToLive)
        return try await accept(submission, call, app: app, once: once)
    }

    func endLiveActivity(_ call: NativeCall<ActivityOperations.EndInput>) async throws(Problem) -> Response {
        let activity = LiveActivity(
            .end(dismissalDate: try call.dismissalDate),
            timestamp: try call.timestamp ?? clock.now(),
            contentState: try call.contentState,
            alert: try call.alert
        )
        let app = try call.app
        let name = try call.activity
        let content = try Self.content(activity, ActivityReference(.running, name), priority: try call.priority)
        let timeToLive = try call.ttlSeconds
        let once = try call.once
        let audience = try await audience(try call.to, of: name, call.caller, app: app)
        let submission = Self.change(content, audience, timeToLive)
        return try await accept(submission, call, app: app, once: once)
    }

    // MARK: Parts

    private func ask(
        _ command: ActivityCommand,
        _ caller: NativeCaller,
        app: AppID
    ) async throws(Problem) -> ActivityReply {
        guard
            case .registration(.activity(let reply)) = try await perform(
                .registration(.activity(command)),
                caller,
                app: app
            )
        else { throw .unavailable(5) }
        return reply
    }

    /// Writes and checks the payload once, because each device gets the same payload.
    ///
    /// - Throws: `Problem` with the first rule of Apple that the payload violates.
    private static func content(
        _ activity: LiveActivity,
        _ reference: ActivityReference,
        priority: Int
    ) throws(Problem) -> Content {
        var options = ApplePushOptions()
        options.type = .liveActivity
        options.priority = priority
        var content = Content()
        do throws(PushFault) {
            content.raw = .object(try APNsPayload(.liveActivity(activity)).document(for: .liveActivity))
        } catch {
            throw Problem(.invalid, error.description)
        }
        content.apns = options.json
        content.activity = reference
        if let fault = options.fault(in: content, custom: JSONObject(), collapseID: nil) {
            throw Problem(.invalid, fault.description)
        }
        return content
    }

    /// A message that changes a running activity. It ignores the user's push settings, because the app requested updates by reporting the token.
    private static func change(_ content: Content, _ audience: Audience, _ timeToLive: Int?) -> Submission {
        var content = content
        content.consent = .all
        return Submission(
            content: content,
            audience: audience,
            timing: SubmissionTiming(timeToLive: timeToLive.map { .seconds($0) }),
            lane: .transactional
        )
    }

    private func audience(
        _ named: Audience?,
        of activity: String,
        _ caller: NativeCaller,
        app: AppID
    ) async throws(Problem) -> Audience {
        if let named { return named }
        try await known(app, caller)
        guard case .devices(let devices) = try await ask(.devices(running: activity), caller, app: app) else {
            throw .unavailable(5)
        }
        if devices.isEmpty { throw .notFound("no device reported a token for the activity") }
        guard devices.count <= Audience.listedLimit else {
            throw .invalid("to", "more than \(Audience.listedLimit) devices: name an audience, or use a channel")
        }
        return .listed(devices.map { Addressee(.device($0)) })
    }

    /// Stores a message; with a repeat key, only once.
    private func accept<Input>(
        _ submission: Submission,
        _ call: NativeCall<Input>,
        app: AppID,
        once key: String?
    ) async throws(Problem) -> Response {
        try call.caller.requireSending(to: submission.audience.reach, of: app)
        var submission = submission
        let kept = repeatKey(key, call)
        submission.idempotencyKey = kept?.key
        submission.bodyHash = kept?.bodyHash
        return try await accept(submission, call.caller, app: app)
    }
}
