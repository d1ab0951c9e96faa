import ArgumentParser
import Model

/// Options of a message for Apple's devices: `apns` of the native API.
struct AppleOptions: ParsableArguments {
    @Option(help: "Apple: the push type, such as background or voip. Without it: alert.") var pushType: String?
    @Option(help: "Apple: 10, 5 or 1. Without it: the push type's own.") var priority: Int?
    @Option(help: "Apple: a later push with the same id replaces the earlier one.") var collapseId: String?
    @Option(help: "Apple: until when it is kept, like 2026-12-25T13:30:00Z; 0 is one try.") var expiration: String?
    @Option(help: "Apple: passive, active, time-sensitive or critical.") var interruptionLevel: String?
    @Option(help: "Apple: 0.0 through 1.0; the highest leads the notification summary.") var relevanceScore: Double?
    @Option(help: "Apple: the window that is brought forward.") var targetContentId: String?
    @Flag(help: "Apple: the app's service extension may change it before it is shown.") var mutableContent = false
    @Flag(help: "Apple: wakes the app as well.") var contentAvailable = false

    /// Nil: nothing of it was said.
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
    @Option(help: "From then on it counts as out of date, like 2026-12-25T13:30:00Z.") var staleDate: String?
    @Option(help: "The activity with the highest score is shown in the Dynamic Island.") var relevanceScore: Double?
    @Option(help: "When it was so, like 2026-12-25T13:30:00Z; devices ignore what is older. Without it: now.")
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
