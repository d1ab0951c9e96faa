/// The facts about one target with which its payload is written and sent.
package struct TargetFacts: Sendable, Hashable {
    package var target: TargetID
    package var identity: IdentityID
    package var device: DeviceID?
    package var app: AppID
    /// The vendor whose SDK shows the push. Its adapter writes the payload.
    package var vendor: Vendor
    package var key: VendorDeviceKey
    package var person: TargetPerson
    package var destination: PushDestination
    package var identityState: IdentityState
    package var acceptsPush: Bool
    /// Whether the user asked for pushes. It is read only for messages that require it.
    package var isOptedIn = false
    package var clock: DeviceClock
    /// The badge that the server counted for this message, the same in every attempt. Nil: the badge is not counted.
    package var badge: Int?
    /// The name of the variant of its identity. Nil: the identity itself.
    package var variant: String?
    /// The template variables of the target. A variant has the attributes of its identity.
    package var variables = JSONObject()
    package var assurance = Assurance.claimed
    /// The number of what its SDK reported; nil: nothing.
    package var client: Int64?
    /// The key that it had before it took that of the app, by which rollouts know it. Nil: it has its own key only.
    package var firstKey: VendorDeviceKey?

    package init(
        target: TargetID,
        identity: IdentityID,
        device: DeviceID?,
        app: AppID,
        vendor: Vendor,
        key: VendorDeviceKey,
        person: TargetPerson = TargetPerson(),
        destination: PushDestination,
        identityState: IdentityState = .active,
        acceptsPush: Bool = true,
        clock: DeviceClock = .unset
    ) {
        self.target = target
        self.identity = identity
        self.device = device
        self.app = app
        self.vendor = vendor
        self.key = key
        self.person = person
        self.destination = destination
        self.identityState = identityState
        self.acceptsPush = acceptsPush
        self.clock = clock
    }
}

/// The user of a target, as the identity was registered.
package struct TargetPerson: Sendable, Hashable {
    package var user: UserID?
    package var name: String?
    package var phone: String?
    /// The stored attributes of the user by name, for templates.
    package var attributes = JSONObject()

    package init(user: UserID? = nil, name: String? = nil, phone: String? = nil) {
        self.user = user
        self.name = name
        self.phone = phone
    }
}

/// The address of a push for a target.
package struct PushDestination: Sendable, Hashable {
    package var platform: Platform
    package var environment: PushEnvironment
    package var token: DeviceToken?
    package var tokenState: TokenState
    /// When this token was last registered. An older 410 response does not invalidate it.
    package var tokenRegisteredAt: Timestamp?

    package init(
        platform: Platform,
        environment: PushEnvironment,
        token: DeviceToken?,
        tokenState: TokenState,
        tokenRegisteredAt: Timestamp? = nil
    ) {
        self.platform = platform
        self.environment = environment
        self.token = token
        self.tokenState = tokenState
        self.tokenRegisteredAt = tokenRegisteredAt
    }

    /// The token if pushes may be sent to it.
    package var usableToken: DeviceToken? { tokenState == .active ? token : nil }
}

extension ConsentRule {
    /// Whether a message with this rule may be sent to the target.
    package func allows(_ facts: TargetFacts) -> Bool {
        switch self {
        case .optedIn: facts.acceptsPush && facts.isOptedIn
        case .subscribed: facts.acceptsPush
        case .all: true
        }
    }
}
