import ArgumentParser
import Model

/// Options of a message for Apple's devices: `apns` of the native API.
struct AppleOptions: ParsableArguments {
    @Option(help: "Push type, such as background or voip. Default: alert.") var pushType: String?
    @Option(help: "Priority at Apple: 10, 5 or 1. Default: that of the push type.") var priority: Int?
    @Option(help: "Collapse id: a later push with the same id replaces the earlier one.") var collapseId: String?
    @Option(help: "Expiration at Apple, such as 2026-12-25T13:30:00Z; 0 for one attempt.") var expiration: String?
    @Option(help: "Interruption level: passive, active, time-sensitive or critical.") var interruptionLevel: String?
    @Option(help: "Relevance from 0.0 to 1.0; the summary shows the highest first.") var relevanceScore: Double?
    @Option(help: "Identifier of the window that the app brings to the front.") var targetContentId: String?
    @Flag(help: "Let the app's service extension change the push before it is shown.") var mutableContent = false
    @Flag(help: "Wake the app in the background as well.") var contentAvailable = false

    /// Nil if no option is given.
    var json: JSON? {
        var apns = JSONObject()
        apns["pushType"] = pushType.map { .string($0) }
        apns["priority"] = priority.map { .int($0) }
        apns["collapseId"] = collapseId.map { .string($0) }
        apns["expiration"] = expiration.map { Int64($0) == nil ? .string($0) : .number($0) }
        apns["interruptionLevel"] = interruptionLevel.map { .string($0) }
        apns["relevanceScore"] = relevanceScore.map { .number($0.description) }
        apns["targetContentId"] = targetContentId.map { .string($0) }
        if mutableContent { apns["mutableContent"] = true }
        if contentAvailable { apns["contentAvailable"] = true }
        return apns.isEmpty ? nil : .object(apns)
    }
}

/// Options of the commands that change Live Activities.
struct ActivityOptions: ParsableArguments {
    @Option(help: "The activity's content state, a JSON object.") var contentState: JSONArgument?
    @Option(help: "The alert's title; with --body.") var title: String?
    @Option(help: "The alert's text; with --title.") var body: String?
    @Option(help: "The alert's sound.") var sound: String?
    @Option(help: "Time from which the content is out of date, such as 2026-12-25T13:30:00Z.") var staleDate: String?
    @Option(help: "The activity with the highest score is shown in the Dynamic Island.") var relevanceScore: Double?
    @Option(help: "Time of the content, such as 2026-12-25T13:30:00Z; devices ignore older content. Default: now.")
    var timestamp: String?
    @Option(help: "10, or 5 to save the app's hourly budget.") var priority: Int?

    /// - Throws: `ValidationError`.
    func check() throws {
        guard (title == nil) == (body == nil), sound == nil || title != nil else {
            throw ValidationError("an alert has --title and --body, and perhaps --sound")
        }
    }

    /// The body of a call.
    var json: JSONObject {
        var body = JSONObject()
        body["contentState"] = contentState.map { .object($0.object) }
        if let title, let text = self.body {
            var alert = JSONObject([("title", .string(title)), ("body", .string(text))])
            alert["sound"] = sound.map { .string($0) }
            body["alert"] = .object(alert)
        }
        body["staleDate"] = staleDate.map { .string($0) }
        body["relevanceScore"] = relevanceScore.map { .number($0.description) }
        body["timestamp"] = timestamp.map { .string($0) }
        body["priority"] = priority.map { .int($0) }
        return body
    }
}
