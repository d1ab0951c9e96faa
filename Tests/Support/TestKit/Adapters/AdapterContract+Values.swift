import FoundationEssentials
import Model

// The values for the rules.
extension AdapterContract {
    static let bodies: [[UInt8]] =
        [
            "", "{}", "{", "[]", "null", "\u{0}", "a=b", "a=%zz", "=&=&", "{\"a\":1}", "{\"APP_ID\":{}}",
        ].map { Array($0.utf8) } + [[0xFF, 0xFE, 0x00], Array(repeating: UInt8(ascii: "["), count: 10_000)]

    static let refusals: [Refusal] = [
        .unknownBinding, .unauthorized, .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender,
        .unknownGroup("g"), .unknownTemplate, .noCredential, .invalid("dueAt"), .invalid("callback"),
        .invalid("no such field"), .tooMany("audience", limit: 1), .rateLimited(retryAfter: .seconds(2)),
        .rateLimited(retryAfter: nil), .idempotencyMismatch, .outdated, .unsupported("x"),
        .unavailable(retryAfter: nil),
        .unavailable(retryAfter: .seconds(5)),
    ]

    static let errors: [AdapterError] = [
        AdapterError.Code.unreadable, .missing, .invalid, .tooLarge, .methodNotAllowed, .notFound, .tooManyRequests,
        .unauthorized, .timedOut, .withheld,
    ].flatMap { [AdapterError($0), AdapterError($0, field: "field")] }

    static let replies: [Reply] = [
        .registration(
            .registered(
                Registered(
                    identity: IdentityID(UUID()),
                    device: DeviceID(UUID()),
                    key: "key",
                    platform: .ios,
                    wasActive: true
                )
            )
        ),
        .registration(.tokenUpdated), .registration(.unregistered(0)), .sender(.registered("SVR")),
        .sender(.enrolled(key: "k", isNew: true)), .sender(.callbackSet),
        .registration(.verificationSent), .registration(.verified(true, platform: nil)),
        .group(.deleted), .group(.put(isNew: true)),
        .preference(.preferences(DevicePreferences(acceptsPush: true))), .preference(.preferencesSet),
        .receipt(.recorded), .receipt(.repeated), .receipt(.orphan), .inbox(.undelivered([])),
        .inbox(.history([entry])), .inbox(.message(entry)), .inbox(.polled([entry], remaining: 1)),
        .inbox(.unread(3)),
        .submission(.accepted(MessageID(UUID()), recipients: nil)), .submission(.controlled(true)),
        .submission(.addressed(AddressedSubmission(message: MessageID(UUID()), number: nil, recipients: nil))),
        .campaign(.found(nil)), .campaign(.schedule(nil)),
        .campaign(.removed(true)),
        .campaign(.schedules([])), .campaign(.series([])), .campaign(.name("n")),
        .media(.bytes([1, 2, 3], contentType: "image/png")), .media(.stored(hash: "h")),
    ]

    private static let entry = InboxEntry(
        notification: Notification(
            message: MessageID(UUID()),
            origin: .native,
            content: Content(title: "\"\u{1}\\", body: "홍길동🙂"),
            sentAt: Timestamp(milliseconds: .max)
        ),
        sender: nil
    )

    /// Short, long and hostile contents.
    static let contents: [Content] = {
        var contents = [
            Content(), Content(isSilent: true), Content(body: "b", raw: .pairs(["aps": .pairs(["alert": "x"])])),
        ]
        for length in [0, 1, 100, 1000, 3000, 4096, 20_000] {
            for unit in ["a", "가", "\"", "\u{1}", "👨‍👩‍👧‍👦", "e\u{301}\u{301}\u{301}"] {
                let text = String(repeating: unit, count: length)
                let data = JSONObject([("k", .string(text)), ("n", .int(1)), ("aps", .pairs(["alert": "x"]))])
                contents += [
                    Content(title: "t", body: text), Content(title: text, body: "b"),
                    Content(body: "b", data: data), Content(data: data, isSilent: true),
                ]
            }
        }
        return contents
    }()
}
