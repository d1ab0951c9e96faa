import FoundationEssentials
import Model
import Testing

@testable import Braze

/// What readers of Currents are told (docs/contracts/braze.md#7, docs/contracts/braze.md#8).
struct CurrentsTests {
    private static let at = Timestamp(milliseconds: 1_767_225_600_250)
    private static let message = MessageID(rawValue: UUID())
    private static let identity = IdentityID(UUID())
    private static let device = DeviceID(UUID())
    private static let facts = EventFacts(
        identities: [
            identity: EventFacts.Identity(
                key: "d-1",
                user: "u-1",
                platform: .ios,
                environment: .production,
                timeZone: TimeZoneName("Asia/Seoul")
            )
        ],
        devices: [
            device: EventFacts.Identity(key: "d-2", platform: .ios, environment: .sandbox)
        ],
        messages: [
            message: EventFacts.Message(
                origin: .braze,
                data: [
                    "campaign": ["api_id": "c-1", "name": "Winter"], "variation": "v-1", "send": "winter-2026",
                ]
            )
        ]
    )

    /// Whether the event is of an identity or a token, and not of a delivery.
    private static let changes: Set<EventKind> = [
        .registered, .replaced, .unregistered, .preferenceChanged, .tokenInvalidated, .tokenQuarantined,
    ]

    private func told(_ kind: EventKind, reason: String? = nil, data: JSON? = nil, ofDevice: Bool = false) -> [JSON] {
        let isChange = Self.changes.contains(kind)
        let event = EventRecord(
            offset: 42,
            at: Self.at,
            kind: kind.rawValue,
            app: "shop",
            vendor: ofDevice ? nil : .braze,
            subject: EventSubject(
                message: isChange ? nil : Self.message,
                identity: ofDevice ? nil : Self.identity,
                device: ofDevice ? Self.device : kind == .registered ? DeviceID(UUID()) : nil,
                user: isChange ? nil : "u-1"
            ),
            reason: reason,
            data: data
        )
        return BrazeAdapter().export(event, Self.facts)
    }

    @Test func aSendHasTheSharedFields() {
        let send = told(.sent)
        #expect(
            send == [
                [
                    "event_type": "users.messages.pushnotification.Send", "id": "42", "time": 1_767_225_600,
                    "app_id": "shop", "user_id": "u-1", "external_user_id": "u-1", "device_id": "d-1",
                    "platform": "ios",
                    "timezone": "Asia/Seoul",
                    "dispatch_id": .string(HexCoding.encode(Self.message.rawValue.bytes)), "campaign_id": "c-1",
                    "campaign_name": "Winter", "message_variation_id": "v-1", "send_id": "winter-2026",
                ]
            ]
        )
        #expect(told(.read).first?["event_type"] == "users.messages.pushnotification.Open")
    }

    @Test(arguments: ["Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken"])
    func aDeadTokenBounces(_ reason: String) {
        #expect(told(.failed, reason: reason).map { $0["event_type"] } == ["users.messages.pushnotification.Bounce"])
    }

    @Test func whatIsGivenUpSaysWhy() {
        let failed = told(.failed, reason: String(repeating: "é", count: 200))
        #expect(failed.first?["event_type"] == "users.messages.pushnotification.Abort")
        #expect(failed.first?["abort_type"] == "delivery_failure")
        #expect(failed.first?["abort_log"] == .string(String(repeating: "é", count: 128)))
        #expect(told(.expired).first?["abort_type"] == "expired")
        #expect(told(.canceled).first?["abort_type"] == "canceled")
    }

    @Test func aTokensLifeIsTold() {
        let added = told(.registered)
        #expect(added.first?["event_type"] == "users.behaviors.pushnotification.TokenStateChange")
        #expect(added.first?["push_token_state_change_type"] == "add")
        #expect(added.first?["time_ms"] == 1_767_225_600_250)
        #expect(added.first?["ios_push_token_apns_gateway"] == 2)
        #expect(added.first?["push_token_device_id"] == "d-1" && added.first?["push_token"] == nil)
        for kind in [EventKind.replaced, .unregistered] {
            #expect(told(kind).first?["push_token_state_change_type"] == "remove")
        }
        let dead = told(.tokenInvalidated, ofDevice: true)
        #expect(
            dead.map { $0["event_type"] }
                == ["users.behaviors.pushnotification.TokenStateChange", "users.behaviors.Uninstall"]
        )
        // Each has an id of its own, which is the same when it is read again.
        #expect(dead.map { $0["id"] } == ["42", "42-1"])
        #expect(dead.first?["ios_push_token_apns_gateway"] == 1 && dead.first?["device_id"] == "d-2")
        #expect(dead.first?["user_id"] == nil && dead.first?["dispatch_id"] == nil)
        #expect(told(.tokenQuarantined, ofDevice: true).count == 1)
    }

    @Test func aChoiceIsTold() {
        let off = told(.preferenceChanged, data: ["acceptsPush": false])
        #expect(off.first?["event_type"] == "users.behaviors.subscription.GlobalStateChange")
        #expect(off.first?["subscription_status"] == "unsubscribed" && off.first?["channel"] == "push")
        #expect(told(.preferenceChanged, data: ["acceptsPush": true]).first?["subscription_status"] == "subscribed")
        #expect(told(.preferenceChanged).isEmpty)
    }

    @Test(arguments: [
        EventKind.accepted, .messageCanceled, .messagePaused, .messageResumed, .messageRequeued, .suppressed, .received,
    ])
    func othersAreNoneOfTheirs(_ kind: EventKind) { #expect(told(kind).isEmpty) }

    @Test func whatIsGoneOrNewerIsNoTrouble() {
        var event = EventRecord(
            offset: 1,
            at: Self.at,
            kind: "sent",
            app: "shop",
            vendor: .upmc,
            subject: EventSubject(message: Self.message)
        )
        let told = BrazeAdapter().export(event, EventFacts())
        #expect(told.count == 1 && told[0]["user_id"] == nil && told[0]["campaign_id"] == nil)
        event.kind = "of a newer gateway"
        #expect(BrazeAdapter().export(event, EventFacts()).isEmpty)
        // Known by an alias only: a user, and nobody's own id.
        event.kind = "unregistered"
        (event.subject.message, event.subject.identity) = (nil, Self.identity)
        let facts = EventFacts(identities: [Self.identity: EventFacts.Identity(user: "alias:7")])
        let unnamed = BrazeAdapter().export(event, facts).first
        #expect(unnamed?["user_id"] == "alias:7" && unnamed?["external_user_id"] == nil)
    }

    /// A phone is handed on, and a token moves: what was pushed before stays whose and on what it was.
    @Test func aPushStaysWithWhoWasSentIt() {
        var event = EventRecord(
            offset: 7,
            at: Self.at,
            kind: "sent",
            app: "shop",
            vendor: .braze,
            subject: EventSubject(
                message: Self.message,
                identity: Self.identity,
                device: Self.device,
                user: "u-0"
            )
        )
        let told = BrazeAdapter().export(event, Self.facts).first
        #expect(told?["user_id"] == "u-0" && told?["external_user_id"] == "u-0")
        #expect(told?["device_id"] == "d-1" && told?["platform"] == "ios")
        // Of the device the push went to, and it has no time zone.
        #expect(told?["timezone"] == nil)
        // Erased: nobody, and not whoever has the device now.
        event.subject.user = nil
        let erased = BrazeAdapter().export(event, Self.facts).first
        #expect(erased?["user_id"] == nil && erased?["external_user_id"] == nil)
    }

    /// A dialect may register a user whose app has said no token yet.
    @Test func aRegistrationWithoutADeviceAddsNoToken() {
        let event = EventRecord(
            offset: 8,
            at: Self.at,
            kind: "registered",
            app: "shop",
            vendor: .braze,
            subject: EventSubject(identity: Self.identity)
        )
        #expect(BrazeAdapter().export(event, Self.facts).isEmpty)
    }

    /// Of a message's data only what is told is read: its properties may be a megabyte.
    @Test func onlyNamesOfASendAreRead() {
        #expect(BrazeAdapter().exportedData.sorted() == ["campaign", "send", "variation"])
    }
}
