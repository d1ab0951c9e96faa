/// Registrations of devices and identities, and the verification of phone numbers.
package enum RegistrationCommand: Sendable, Hashable {
    case register(DeviceRegistration)
    case updateToken(key: VendorDeviceKey, token: DeviceToken, environment: PushEnvironment?)
    case unregister(IdentitySelector)
    case requestVerification(phone: String, countryCode: String?)
    case verify(phone: String, code: String, platform: Platform?)
    /// Registers a device and sets its user, in one step.
    case enlist(DeviceRegistration, UserChange)
    /// Sets the user of a registered device. `assurance`: the level that the caller proves for the user.
    case assign(key: VendorDeviceKey, UserChange, assurance: Assurance = .claimed)
    case standing(key: VendorDeviceKey)
    /// Draws an unused key: 32 lower-case hex digits.
    case drawKey
    /// Lists active identities with a usable token, ordered by key, beginning at `from`.
    case listed(IdentityFilter, from: VendorDeviceKey?, limit: Int)
    case activity(ActivityCommand)
}

/// Selects the identities that a call affects.
package enum IdentitySelector: Sendable, Hashable {
    case key(VendorDeviceKey)
    /// Every identity of that phone in the app.
    case phone(String)
}

/// Selects the registrations of a list.
package enum IdentityFilter: Sendable, Hashable {
    case all
    case token(DeviceToken)
    /// The identities that have the tag, or a variant with it.
    case tag(Tag)
}

/// One registration in a list.
package struct ListedIdentity: Sendable, Hashable {
    package var key: VendorDeviceKey
    package var standing: IdentityStanding

    package init(key: VendorDeviceKey, standing: IdentityStanding) {
        self.key = key
        self.standing = standing
    }
}

/// One SDK's registration of one device. Nil fields are left as they are in the store.
package struct DeviceRegistration: Sendable, Hashable {
    /// Nil: the gateway assigns a key (32 lower-case hex digits).
    package var key: VendorDeviceKey?
    /// Whether a missing key is derived from the token, so that the same token always identifies the same device.
    package var derivesKey = false
    package var platform: Platform
    package var environment: PushEnvironment?
    package var token: DeviceToken?
    package var user: UserID?
    package var name: String?
    /// Digits, national form.
    package var phone: String?
    /// The phone number as the caller sent it.
    package var rawPhone: String?
    /// Whether this registration replaces another identity of the same phone.
    package var replacesSamePhone: Bool
    /// Further attributes: stored and shown. Only `ownAttributes` are interpreted.
    package var attributes: JSONObject
    /// The facts that the SDK reports about the app and the system. A field that it does not name is left as it is in the store.
    package var client = ClientFacts()
    /// Replaces all tags.
    package var tags: [Tag]?
    /// The time zone of the device and the hours in which it may be notified.
    package var clock: DeviceClock
    /// Whether a known key alone is not a proof: if its identity is active and has a user and a working token, the call must name that token or user. Otherwise it
    /// is refused (`Refusal.invalid("key")`).
    package var keepsOwner = false
    /// The registration is done only if the active identity has these attributes. Nil: no condition.
    package var expected: JSONObject?
    /// The level that the caller proves for the user: `.vouched` if the tenant's back end registers the device or proves the user, otherwise `.claimed`.
    package var assurance = Assurance.claimed
    /// Further facts of a row of a device file. Registrations by calls have none.
    package var imported = ImportedFacts()

    /// The attribute of an identity that shares its device with others of its dialect: it does not replace another identity, and is not replaced by one.
    package static let sharingAttribute = "sharesDevice"

    /// The time at which an identity ends by itself: from then on it counts as unregistered. Unit: seconds since 1970.
    package static let endAttribute = "$endsAt"

    /// The attribute of an identity whose operating system blocks the app's pushes: no push is sent, whatever the user's preferences are.
    package static let denyingAttribute = "deniesPush"

    /// The beginning of the keys that an import derives from tokens, for devices without a key.
    package static let derivedKeyPrefix = "token-"

    /// The attributes that the gateway itself interprets. A dialect must not let a device set them directly. `$rolloutKey` is `TargetFacts.firstKey`.
    package static let ownAttributes: Set = [
        sharingAttribute, endAttribute, denyingAttribute, "$rolloutKey", Variants.attribute,
    ]

    package init(
        key: VendorDeviceKey?,
        platform: Platform,
        environment: PushEnvironment? = nil,
        token: DeviceToken? = nil,
        user: UserID? = nil,
        name: String? = nil,
        phone: String? = nil,
        rawPhone: String? = nil,
        replacesSamePhone: Bool = false,
        attributes: JSONObject = JSONObject(),
        tags: [Tag]? = nil,
        clock: DeviceClock = .unset
    ) {
        self.key = key
        self.platform = platform
        self.environment = environment
        self.token = token
        self.user = user
        self.name = name
        self.phone = phone
        self.rawPhone = rawPhone
        self.replacesSamePhone = replacesSamePhone
        self.attributes = attributes
        self.tags = tags
        self.clock = clock
    }
}

/// The result of a registration command.
package enum RegistrationReply: Sendable, Hashable {
    case registered(Registered)
    case tokenUpdated
    /// How many identities were unregistered. 0 is not an error.
    case unregistered(Int)
    case verificationSent
    case verified(Bool, platform: Platform?)
    case enlisted(Registered, AssignedUser)
    case assigned(AssignedUser)
    /// Nil: the key was never registered.
    case standing(IdentityStanding?)
    case drawn(VendorDeviceKey)
    case listed([ListedIdentity])
    case activity(ActivityReply)
}

/// The state of an identity after its registration.
package struct Registered: Sendable, Hashable {
    package var identity: IdentityID
    package var device: DeviceID
    package var key: VendorDeviceKey
    package var platform: Platform
    /// Whether the identity was active before. Vendors return different answers for that.
    package var wasActive: Bool
    /// Identities of the same phone or token that it replaced.
    package var replaced: [IdentityID]

    package init(
        identity: IdentityID,
        device: DeviceID,
        key: VendorDeviceKey,
        platform: Platform,
        wasActive: Bool,
        replaced: [IdentityID] = []
    ) {
        self.identity = identity
        self.device = device
        self.key = key
        self.platform = platform
        self.wasActive = wasActive
        self.replaced = replaced
    }
}
