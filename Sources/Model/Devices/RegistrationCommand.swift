/// Devices, identities, and the proof that a phone number is its user's.
package enum RegistrationCommand: Sendable, Hashable {
    case register(DeviceRegistration)
    case updateToken(key: VendorDeviceKey, token: DeviceToken, environment: PushEnvironment?)
    case unregister(IdentitySelector)
    case requestVerification(phone: String, countryCode: String?)
    case verify(phone: String, code: String, platform: Platform?)
    /// Registers a device, and whose it is, in one step.
    case enlist(DeviceRegistration, UserChange)
    /// Whose a registered device is.
    case assign(key: VendorDeviceKey, UserChange)
    case standing(key: VendorDeviceKey)
    /// A key that nobody has: 32 lower-case hex digits.
    case drawKey
    /// Those that are active and whose token may be used, in the order of their keys, from `from` on.
    case listed(IdentityFilter, from: VendorDeviceKey?, limit: Int)
    case activity(ActivityCommand)
}

/// Which identities a call means.
package enum IdentitySelector: Sendable, Hashable {
    case key(VendorDeviceKey)
    /// Every identity of that phone in the app.
    case phone(String)
}

/// Which registrations a list is about.
package enum IdentityFilter: Sendable, Hashable {
    case all
    case token(DeviceToken)
    /// Those who have the tag, or a variant with it.
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
    /// Nil: the gateway gives one out (32 lower-case hex digits).
    package var key: VendorDeviceKey?
    /// Without a key it is made of the token, so that the same token is the same device again.
    package var derivesKey = false
    package var platform: Platform
    package var environment: PushEnvironment?
    package var token: DeviceToken?
    package var user: UserID?
    package var name: String?
    /// Digits, national form.
    package var phone: String?
    /// The phone as it came.
    package var rawPhone: String?
    /// Whether another identity of the same phone is thereby replaced.
    package var replacesSamePhone: Bool
    /// Further attributes (model, OS version): stored, shown, and but for `ownAttributes` never interpreted.
    package var attributes: JSONObject
    /// All its tags from now on.
    package var tags: [Tag]?
    /// The zone of its clock and when it may be rung.
    package var clock: DeviceClock
    /// What the attributes of the active identity must be for this to be done; nil: whatever they are.
    package var expected: JSONObject?

    /// The attribute of an identity that shares its device with others of its dialect: it takes nobody's place, and nobody takes its own.
    package static let sharingAttribute = "sharesDevice"

    /// The attribute of an identity that ends by itself: from then on it counts as one that has left. Unit: seconds since 1970.
    package static let endAttribute = "$endsAt"

    /// The attribute of an identity whose device's system shows no pushes of the app: none is sent, whatever its user chose.
    package static let denyingAttribute = "deniesPush"

    /// What the gateway itself reads of attributes: a dialect lets no device say these by itself.
    package static let ownAttributes: Set = [sharingAttribute, endAttribute, denyingAttribute, Variants.attribute]

    package var sharesDevice: Bool { attributes[Self.sharingAttribute] == true }

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

/// What came of a registration command.
package enum RegistrationReply: Sendable, Hashable {
    case registered(Registered)
    case tokenUpdated
    /// How many identities left; 0 is no error.
    case unregistered(Int)
    case verificationSent
    case verified(Bool, platform: Platform?)
    case enlisted(Registered, AssignedUser)
    case assigned(AssignedUser)
    /// Nil: it was never registered.
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
    /// Whether it was there and active before: vendors answer that differently.
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
