import DeliveryEngine
import EngineStore
package import Explain
package import Model
import Store

/// The JSON form of an explained delivery: the members of other deliveries, and `explanation`.
extension DeliveryExplanation {
    package static let shape = AnswerShape<DeliveryExplanation>(
        "ExplainedDelivery",
        AnswerShape.members(NativeShapes.deliveryMembers) { $0.delivery } + [
            .shape("explanation", explanation, "The state of the delivery, with the reasons.") { $0 }
        ]
    )

    package var json: JSON { Self.shape.json(self) }

    private static let explanation = AnswerShape<DeliveryExplanation>(
        "Explanation",
        [
            .text("standing", "The state of the delivery, as a sentence.") { $0.standingText },
            .optionalText("meaning", "The meaning of the reason.") { $0.reason?.meaning },
            .optionalText("advice", "The recommended action.") { $0.reason?.advice },
            .optionalShape("device", device, "The device in its present state.") { $0.known },
            .optionalShape("identity", identity, "The identity in its present state.") { $0.trail.target },
            .shape("route", route, "The app's present topic and credential.") { $0 },
            .optionalShape("rules", routing, "How the rules of the app routed the delivery.") { $0.rules },
            .list(
                "tried",
                triedPath,
                "The paths that were tried, in their order, with the outcome of each; empty: none yet."
            ) { $0.tried },
            .optionalShape(
                "upstream",
                upstreamCall,
                "The call by which an upstream got the message, which it pushes by itself."
            ) { $0.upstream },
            .optionalID("duplicateOf", "The message with the same text that the device was sent before.") {
                $0.duplicateOf?.description
            },
            .init("push", pushSchema, writePart: { $0.pushJSON(withContent: $1) }),
            .optionalShape("waits", HoursWords.shape, "The hours for which the delivery waits.") { explanation in
                explanation.trail.queue.flatMap { explanation.waiting($0) }
            },
            .optionalShape("queue", queue, "The delivery's place in the queue.") { $0.trail.queue },
            .texts(
                "recomputed",
                "Members computed from the present data, which may have changed since the push was sent."
            ) { _ in
                DeliveryExplanation.recomputed
            },
        ]
    )

    private struct KnownDevice: Sendable {
        var target: TargetFacts
        var tokenReason: String?
    }

    private var known: KnownDevice? { trail.target.map { KnownDevice(target: $0, tokenReason: trail.tokenReason) } }

    private static let device = AnswerShape<KnownDevice>(
        "ExplainedDevice",
        [
            .optionalID("id") { $0.target.device?.description },
            .word("platform") { $0.target.destination.platform },
            .word("environment") { $0.target.destination.environment },
            .optionalText("token", "Masked.") { $0.target.destination.token?.masked },
            .word("tokenState") { $0.target.destination.tokenState },
            .optionalText("tokenReason", "Why the push service rejected the token.") { $0.tokenReason },
            .optionalTime("tokenRegisteredAt") { $0.target.destination.tokenRegisteredAt },
            .optionalText("timeZone") { $0.target.clock.timeZone?.text },
            .optionalShape("receivingWindow", NativeShapes.window) { $0.target.clock.window },
        ]
    )

    private static let identity = AnswerShape<TargetFacts>(
        "ExplainedIdentity",
        [
            .id("id") { $0.identity.description },
            .text("vendor", example: "native") { $0.vendor.rawValue },
            .text("key", example: "phone-1") { $0.key.rawValue },
            .word("state") { $0.identityState },
            .flag("acceptsPush") { $0.acceptsPush },
        ]
    )

    private static let route = AnswerShape<DeliveryExplanation>(
        "ExplainedRoute",
        [
            .optionalText("topic", example: "com.example.shop") { $0.topic },
            .optionalText("credential", example: "apple") { $0.credential?.rawValue },
            .optionalText("kind", "The credential's kind; null: it is not provisioned.") { $0.standing?.kind },
            .optionalText("refusal", "Why the push service refused the credential.") { $0.standing?.refusal },
            .optionalTime("refusedAt") { $0.standing?.refusedAt },
        ]
    )

    private static let routing = AnswerShape<RouteTrace>(
        "ExplainedRules",
        [
            .int("version", "The version of the rules by which the message was routed.") { $0.version },
            .optionalInt("rule", "The place of the rule in `deliveries`; null: none matched.") { $0.rule },
            .optionalInt("bucket", "The rollout bucket of the target.") { $0.bucket.map { Int($0) } },
            .texts("paths", "In the order in which they are tried.", example: "apns") { $0.paths },
        ]
    )

    private static let triedPath = AnswerShape<TriedPath>(
        "TriedPath",
        [
            .text("path", "`apns`, or the credential of an upstream.", example: "apns") { $0.path },
            .text(
                "outcome",
                "`sent`, `uncertain`, a reason, or why the path could not be used.",
                example: "Unregistered"
            ) { $0.outcome },
        ]
    )

    private static let upstreamCall = AnswerShape<UpstreamTrace>(
        "ExplainedUpstream",
        [
            .text("credential", example: "old-braze") { $0.upstream.rawValue },
            .time("calledAt") { $0.calledAt },
            .flag("answered", "Whether the end of the call is known.") { $0.isAnswered },
            .optionalText("reference", "The vendor's name of the message.") { $0.reference },
        ]
    )

    private static let queue = AnswerShape<QueueFacts>(
        "QueuePlace",
        [
            .int("slice", "The part of the message.") { $0.slice },
            .text("state", "`ready` or `leased`.", example: "ready") { $0.state },
            .time("nextTryAt", "When the slice is due, or when its lease ends.") { $0.nextAt },
            .int("attempts", "How often the slice was returned to the queue.") { $0.attempts },
            .optionalText("heldBy", "The credential for which the slice waits.") { $0.heldBy?.rawValue },
            .flag("isPaused", "Whether the slice's lane is paused.") { $0.isLanePaused },
            .optionalText("gaveUp", "Why the gateway stopped trying the slice.") { $0.deadReason },
        ]
    )

    private static let pushSchema = PushPicture.schema.nullable.described("The push as it would be sent now.")

    private func pushJSON(withContent: Bool) -> JSON? {
        switch push {
        case nil: .null
        case .success(let picture): picture.json(token: token, withContent: withContent)
        case .failure(let error): PushPicture.json(of: error)
        }
    }
}
