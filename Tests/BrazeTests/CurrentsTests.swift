import FoundationEssentials
import Model
import Testing

@testable import Braze

/// The events in the Currents format (docs/contracts/braze.md#7, docs/contracts/braze.md#8).
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

    /// The kinds whose events belong to an identity or a token, and not to a delivery.
    private static let changes: Set<EventKind> = [
        .registered, .replaced, .unregistered, .preferenceChanged, .tokenInvalidated, .tokenQuarantined,
    ]

    private func exported(_ kind: EventKind, reason: String? = nil, data: JSON? = nil, ofDevice: Bool = false) -> [JSON]
    {
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
        let send = exported(.sent)
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
        #expect(exported(.read).first?["event_type"] == "users.messages.pushnotification.Open")
    }

    @Test(arguments: ["Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken"])
    func anInvalidTokenBounces(_ reason: String) {
        #expect(
            exported(.failed, reason: reason).map { $0["event_type"] } == ["users.messages.pushnotification.Bounce"]
        )
    }

    @Test func anAbortedSendHasItsReason() {
        let failed = exported(.failed, reason: String(repeating: "é", count: 200))
        #expect(failed.first?["event_type"] == "users.messages.pushnotification.Abort")
        #expect(failed.first?["abort_type"] == "delivery_failure")
        #expect(failed.first?["abort_log"] == .string(String(repeating: "é", count: 128)))
        #expect(exported(.expired).first?["abort_type"] == "expired")
        #expect(exported(.canceled).first?["abort_type"] == "canceled")
    }

    @Test func changesOfATokenAreExported() {
        let added = exported(.registered)
        #expect(added.first?["event_type"] == "users.behaviors.pushnotification.TokenStateChange")
        #expect(added.first?["push_token_state_change_type"] == "add")
        #expect(added.first?["time_ms"] == 1_767_225_600_250)
        #expect(added.first?["ios_push_token_apns_gateway"] == 2)
        #expect(added.first?["push_token_device_id"] == "d-1" && added.first?["push_token"] == nil)
        for kind in [EventKind.replaced, .unregistered] {
            #expect(exported(kind).first?["push_token_state_change_type"] == "remove")
        }
        let dead = exported(.tokenInvalidated, ofDevice: true)
        #expect(
            dead.map { $0["event_type"] }
                == ["users.behaviors.pushnotification.TokenStateChange", "users.behaviors.Uninstall"]
        )
        // Each event has an id of its own, which stays the same on every read.
        #expect(dead.map { $0["id"] } == ["42", "42-1"])
        #expect(dead.first?["ios_push_token_apns_gateway"] == 1 && dead.first?["device_id"] == "d-2")
        #expect(dead.first?["user_id"] == nil && dead.first?["dispatch_id"] == nil)
        #expect(exported(.tokenQuarantined, ofDevice: true).count == 1)
    }

    @Test func changesOfThePushPreferenceAreExported() {
        let off = exported(.preferenceChanged, data: ["acceptsPush": false])
        #expect(off.first?["event_type"] == "users.behaviors.subscription.GlobalStateChange")
        #expect(off.first?["subscription_status"] == "unsubscribed" && off.first?["channel"] == "push")
        #expect(exported(.preferenceChanged, data: ["acceptsPush": true]).first?["subscription_status"] == "subscribed")
        #expect(exported(.preferenceChanged).isEmpty)
    }

    @Test(arguments: [
        EventKind.accepted, .messageCanceled, .messagePaused, .messageResumed, .messageRequeued, .suppressed, .received,
    ])
    func otherKindsOfEventsAreNotExported(_ kind: EventKind) { #expect(exported(kind).isEmpty) }

    @Test func missingFactsAreAccepted() {
        let subject = EventSubject(message: Self.message)
        var event = EventRecord(offset: 1, at: Self.at, kind: "sent", app: "shop", vendor: .upmc, subject: subject)
        let exported = BrazeAdapter().export(event, EventFacts())
        #expect(exported.count == 1 && exported[0]["user_id"] == nil && exported[0]["campaign_id"] == nil)
        event.kind = "of a newer gateway"
        #expect(BrazeAdapter().export(event, EventFacts()).isEmpty)
        // The user is known by an alias only, so it has a user id and no external id.
        event.kind = "unregistered"
        (event.subject.message, event.subject.identity) = (nil, Self.identity)
        let facts = EventFacts(identities: [Self.identity: EventFacts.Identity(user: "alias:7")])
        let unnamed = BrazeAdapter().export(event, facts).first
        #expect(unnamed?["user_id"] == "alias:7" && unnamed?["external_user_id"] == nil)
    }

    /// When a phone gets another user or a token moves to another device, earlier pushes keep their user and device.
    @Test func aPushKeepsItsUserAndDevice() {
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
        let exported = BrazeAdapter().export(event, Self.facts).first
        #expect(exported?["user_id"] == "u-0" && exported?["external_user_id"] == "u-0")
        #expect(exported?["device_id"] == "d-1" && exported?["platform"] == "ios")
        // The platform is that of the push's device, which has no time zone.
        #expect(exported?["timezone"] == nil)
        // After an erasure the event has no user; it does not get the device's current user.
        event.subject.user = nil
        let erased = BrazeAdapter().export(event, Self.facts).first
        #expect(erased?["user_id"] == nil && erased?["external_user_id"] == nil)
    }

    /// A dialect may register a user whose app has not reported a token yet.
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

    /// Of a message's data, only the exported members are read, because its properties may be a megabyte.
    @Test func onlyTheNamesOfASendAreRead() {
        #expect(BrazeAdapter().exportedData.sorted() == ["campaign", "send", "variation"])
    }
}
