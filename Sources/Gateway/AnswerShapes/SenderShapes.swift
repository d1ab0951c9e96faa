package import AudienceStore
import Model

/// The JSON forms of senders.
package enum SenderShapes {
    package static let sender = AnswerShape<ListedSender>(
        "Sender",
        [
            .text("vendor", "The vendor through whose API it sends.", example: "native") { $0.vendor.rawValue },
            .text("sender", "Its id in the vendor's API.", example: "SVR-bank") { $0.id.rawValue },
            .text("name", "The name under which it registered.", example: "bank-core") { $0.name },
            .flag("enrolled", "Whether it made the second registration that some vendors have.") { $0.isEnrolled },
            .optionalText("enrolledName", "The name that it stated then.", example: "bank backend 1") {
                $0.enrolledName
            },
            .optionalText("address", "The address that it stated then.", example: "10.20.0.7") { $0.address },
            .flag("proven", "Whether a caller with a proof, or a provisioning file, registered it.") { $0.isProven },
            .time("registeredAt", "When it was first registered.") { $0.registeredAt },
            .optionalText(
                "callbackUrl",
                "Where its events are sent; null: nowhere.",
                example: "https://bank.example/events"
            ) { $0.callbackURL },
            .int("failures", "Calls there that failed one after the other; 0: the last one succeeded.") {
                $0.failures
            },
            .optionalTime("failingSince", "Since when they fail; null: they do not.") { $0.failingSince },
            .optionalText("lastError", "Why the last one failed.", example: "HTTP 503") { $0.failure },
        ]
    )

    package static let page = AnswerPage("senders", sender, next: .text(example: "native:bank-core"))
}
