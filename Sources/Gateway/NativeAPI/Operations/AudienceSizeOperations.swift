import AnswerShapes
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/audience-size`: how many targets a message would have.
enum AudienceSizeOperations {
    static let all = [count]

    struct Input: InputFields {
        let app = CommonInputs.app
        let vendor = CommonInputs.vendor
        let audience = BodyField.required("to", .audience, "The audience, as in a message.")
        let excluded = BodyField.optional("excluded", .flag, default: false, as: false, "Count those that get nothing.")
        let sendAt = BodyField.optional("sendAt", .schedule, "With `excluded`: when it is due; null: now.")
    }

    static let size = AnswerShape<AudienceSize>(
        "AudienceSize",
        [
            .int("count", "The number of targets.") { $0.count },
            .word(
                "precision",
                "`exact`; `about`: from counters of identities or of a group's users; `atLeast`: the count was stopped."
            ) { $0.precision },
            .optionalInt(
                "optedOut",
                "With `excluded`: of the targets, those whose users opted out. Null: not counted, because the targets are listed or more than are counted exactly."
            ) { $0.optedOut },
            .optionalInt(
                "quiet",
                "With `excluded`: of the other targets, those for which the message is due in the app's quiet hours or outside of the device's receiving window. Null: as `optedOut`."
            ) { $0.quiet },
        ]
    )

    static let count = NativeOperation(
        "countAudience",
        .post,
        "/v1/apps/{app}/audience-size",
        scope: .read,
        "Count the targets that a message to an audience would have now: exactly up to \(AudienceSize.exactLimit), above it approximately, and for tags at least the stated number.",
        input: Input(),
        example: ["to": ["tags": "seoul && !quiet"]],
        answers: [.json(size.schema, "The size.")],
        problems: [.notFound],
        NativeAPI.countAudience
    )
}

extension NativeAPI {
    func countAudience(_ call: NativeCall<AudienceSizeOperations.Input>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let audience = try call.audience
        try await known(scope.app, call.caller)
        let (isAsked, sendAt) = try (call.excluded, call.sendAt)
        let rules = isAsked ? self.rules(of: sendAt, audience) : nil
        let size = try await asked { () async throws(StoreError) in
            try await stores.audiences.size(of: audience, in: scope, of: call.tenant, by: rules)
        }
        return .json(AudienceSizeOperations.size.json(size))
    }

    /// The rules for an ordinary message to an audience, without the hours of its app.
    private func rules(of schedule: MessageSchedule?, _ audience: Audience) -> TimingRules {
        let due = schedule?.at ?? schedule?.delay.map { clock.now() + $0 } ?? clock.now()
        // A day later, so that the message does not expire before it is due.
        let end = max(due, schedule?.local?.latest ?? due) + .seconds(86_400)
        return TimingRules(
            app: AppTiming(),
            lane: Self.lane(Content(body: ""), audience),
            dueAt: due,
            localDue: schedule?.local,
            expiresAt: end
        )
    }
}
