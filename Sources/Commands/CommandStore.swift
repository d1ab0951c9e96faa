package import Model

/// What `Commands` needs of a store.
///
/// What the implementer owes: `run` is one transaction of one tenant, in order, all or nothing, in one round trip; the answer comes after the commit
/// is on disk; a statement reads what the statements before it wrote; rows of another tenant do not exist for it.
package protocol CommandStore: Sendable {
    /// Runs `statements` and gives one answer for each.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    func run(_ statements: [StoreStatement], in tenant: TenantID) async throws(StoreError) -> [StoreAnswer]

    /// Runs `statements` unless the key came before, and keeps the answer in their transaction. Of two that come at once the second waits for the first.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    func run(
        _ statements: [StoreStatement],
        in tenant: TenantID,
        keeping keep: Keep<[StoreAnswer]>
    ) async throws(StoreError) -> Kept<[StoreAnswer]>
}

/// Whose rows of an app a statement is about: the app and the dialect.
package struct AppScope: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor

    package init(app: AppID, vendor: Vendor) {
        self.app = app
        self.vendor = vendor
    }
}

/// One statement. Values only: the store decides how it is spelled.
package enum StoreStatement: Sendable, Hashable {
    // Registration
    /// Inserts or updates an identity and its device. The newest registration owns its token within (app, vendor, platform, environment): an older identity on it
    /// becomes `replaced`, unless one of the two shares its device, and so does one of the same phone when asked. `identity` and `device` are used when there is none yet. → `.registered`
    indirect case register(
        AppScope,
        key: VendorDeviceKey,
        DeviceRegistration,
        identity: IdentityID,
        device: DeviceID,
        at: Timestamp
    )
    /// → `.count`, 0 when there is no such identity
    case updateToken(AppScope, key: VendorDeviceKey, DeviceToken, PushEnvironment?, at: Timestamp)
    /// Active identities become `unregistered`; tokens that no other identity uses are dropped. → `.count`
    case unregister(AppScope, IdentitySelector, at: Timestamp)
    /// → `.identity`
    case identity(AppScope, key: VendorDeviceKey)
    /// The sender of that name, or a new one called `id`. → `.sender`
    case registerSender(AppScope, name: String, id: SenderID)
    /// → `.sender`, nil when unknown
    case sender(AppScope, SenderID)
    /// Gives the sender `key` unless it has one. → `.sender` (nil when unknown) with `isNew`
    case enrolSender(AppScope, SenderID, key: String, name: String?, address: String?)
    /// → `.count`
    case setCallback(AppScope, SenderID, url: String?)
    /// Stores the code's hash unless the limits are reached. → `.permitted`
    case putVerification(AppScope, phone: String, codeHash: String, limits: VerificationLimits, at: Timestamp)
    /// Counts the try; a match uses the code up. → `.permitted`
    case checkVerification(AppScope, phone: String, codeHash: String, limits: VerificationLimits, at: Timestamp)

    // Preferences
    /// → `.groupPut`, nil when there is no such app
    case putGroup(AppScope, GroupName)
    /// With its members and counts. → `.count`
    case deleteGroup(AppScope, GroupName)
    /// Those that there are, in the order of their names. → `.groups`
    case groups(AppScope, [GroupName])
    /// Removes, then adds; the group's count is exact with it. → `.membersChanged`, nil when there is no such group
    case changeMembers(AppScope, GroupName, GroupChange)

    // Receipts and inbox
    /// First writer wins; writes the event. → `.receipt`
    case receipt(AppScope, MessageID, Reporter, ReceiptKind, at: Timestamp)
    /// The delivery to the reporter's identity, or to the phone registered for it. → `.delivery`
    case delivery(AppScope, MessageID, Reporter)
    /// Notes contact with the device. → `.count`
    case touch(AppScope, key: VendorDeviceKey, at: Timestamp)
    /// Sent deliveries of that identity without receipt since `since`, newest first. → `.inbox`
    case undelivered(AppScope, key: VendorDeviceKey, since: Timestamp, limit: Int)

    // Submission
    /// → `.app`
    case app(AppScope)
    /// The active identity behind each address (a phone: its newest; a user: each is not supported here). → `.resolved`, parallel
    case resolve(AppScope, [Address])
    /// Every active identity of each user, `limit` at most over all of them, the users in the given order. → `.resolvedUsers`
    case resolveUsers(AppScope, [UserID], limit: Int)
    /// Message, slices, suppressed deliveries, counters, events, idempotency, in that order. → `.accepted`
    indirect case accept(NewMessage)
    /// Steers what is not sent; with a row of the audit when somebody is named. → `.count`, 0 when that changed nothing
    case control(AppScope, MessageID, MessageControl, by: String?, at: Timestamp)

    // Media
    /// → `.count`
    case putMedia(hash: String, contentType: String, bytes: [UInt8], at: Timestamp)
    /// The bytes of `media` when it belongs to that message of that app. → `.media`
    case media(AppScope, MessageID, media: String)
    /// The bytes of the image of the message with that number in the dialect, if its data name that owner. → `.media`
    case ownMedia(AppScope, number: String, owner: String)

    // Histories. The caller is found first; to one that is not registered each answers with nothing.
    /// What was sent to the device itself and is shown counts as received, unless the page is only looked at. → `.inbox`
    case history(AppScope, DeviceCaller, HistoryPage, at: Timestamp)
    /// → `.inbox` with one entry or none
    case inboxMessage(AppScope, DeviceCaller, number: String)
    /// What the device has not received, whatever became of the push, oldest first; from then on it has. → `.inbox`
    case poll(AppScope, DeviceCaller, limit: Int, at: Timestamp)
    /// How many messages the device has not received, `limit` at most. → `.count`
    case unreceived(AppScope, DeviceCaller, limit: Int, at: Timestamp)
    /// As `receipt`, and also for what was not pushed. → `.reported`
    case reportNumber(AppScope, DeviceCaller, number: String, ReceiptKind, at: Timestamp)

    // Preferences of devices
    /// → `.preferences`
    case preferences(AppScope, DeviceCaller)
    /// → `.count`
    case setPreferences(AppScope, DeviceCaller, PreferenceChange)

    // Numbers of messages
    /// The next numbers of the app in the scope's dialect, which nobody else gets: none before the database's second. → `.numbers`
    case drawNumbers(AppScope, count: Int)
    /// Gives a message that this transaction stored its numbers, and opens it in the inboxes of those of `targets`, already settled, that keep one. → `.count`
    case number(MessageID, [Vendor: String], targets: [TargetID], inboxes: Set<Vendor>)
    /// → `.numbered`
    case numbers(of: MessageID)
    /// As `resolveUsers`, by alias; whose alias nobody has is looked up by the user's id. → `.resolvedUsers`
    case resolveAliases(AppScope, [UserID], limit: Int)

    // Users on devices
    /// → `.assigned`, nil when there is no such active identity
    case assignUser(AppScope, key: VendorDeviceKey, UserChange)
    /// → `.standing`
    case standing(AppScope, key: VendorDeviceKey)
    /// Active ones with a token that may be used, in the order of keys. → `.identities`
    case identities(AppScope, IdentityFilter, from: VendorDeviceKey?, limit: Int)

    /// That the active identity of this key has these attributes, until the transaction ends; else nothing of it is done: `StoreError.outdated`. → `.count`
    case expect(AppScope, key: VendorDeviceKey, attributes: JSONObject)

    // Badges
    /// Nil reads. → `.badge`, nil when nobody answers to the holder
    case setBadge(AppScope, BadgeHolder, Int?)
    /// A receipt by reference, else by id; the badge of the reader's holder after it. First writer wins. → `.acknowledged`
    case acknowledge(AppScope, MessageReference, BadgeHolder, ReceiptKind, BadgeChange?, at: Timestamp)
    /// Keeps the newest. Only for users that are known. → `.count`
    case visit(AppScope, UserID, campaign: String?, at: Timestamp)

    // Groups by number
    /// → `.groupCreated`, nil when there is no such app
    case createGroup(AppScope, title: String)
    /// → `.titledGroups`, in the order of their numbers
    case titledGroups(AppScope, GroupName?, limit: Int)
    /// → `.members`, in the order of their ids; nil when there is no such group
    case members(AppScope, GroupName, UserID?, limit: Int)

    // Numbered messages
    /// As `resolveUsers`, with keys, and only devices with one of `tokens` unless that is nil. Without users everybody who has one. → `.recipients`
    case recipients(AppScope, [UserID]?, tokens: [DeviceToken]?, limit: Int)
    /// The next number of the app, once per message; after its acceptance. → `.number`, nil when there is no such message
    case sequenceMessage(AppScope, MessageID)
    /// After its acceptance. → `.count`
    case putVariables(MessageID, [UserVariables])
    /// After its acceptance. → `.count`
    case putPage(MessageID, PageReference, body: String, expiresAt: Timestamp)
    /// What an audience is expanded by; after its acceptance. → `.count`
    case setPace(MessageID, Pace)
    /// A message of the scope's dialect, with its settled deliveries counted. → `.report`
    case report(AppScope, MessageID)

    // Histories that are only looked at. A caller that names a user alone is one here.
    /// One message of that user, who must be the caller's. → `.inbox` with one entry or none
    case userMessage(AppScope, DeviceCaller, UserID, number: String, hiddenBy: String?)
    /// How many were not read of the newest `limit`. → `.count`
    case unread(AppScope, DeviceCaller, HistoryPage.Owner, hiddenBy: String?, limit: Int, at: Timestamp)
    /// Of the devices with one of `tokens` those whose user is in one of the groups; an unknown group has nobody. → `.recipients`
    case groupRecipients(AppScope, [GroupName], tokens: [DeviceToken], limit: Int)

    // Users as back ends describe them
    /// Those who have a profile or an active identity. → `.profiles`, parallel
    case profiles(AppScope, [UserName])
    /// Which of these an active identity has. → `.tokens`
    case knownTokens(AppScope, [DeviceToken])
    /// All of a batch; `StoreError.conflict` where a profile is not at the revision that was read. → `.usersPut`
    case putUsers(AppScope, UserWrite)
    /// What hangs on users; `limit` at most, of aliases in all, else of each. → `.userAliases`, `.userTallies`, `.userDevices`, `.userMessages`
    case userDetails(AppScope, UserDetail, [UserID], limit: Int)
    /// With devices that nobody else uses, and a row of the audit each. → `.count` of those that there were
    case eraseUsers(AppScope, [UserID], by: String)
    /// As `resolveUsers`; an alias as `UserName.text` spells it is looked up. → `.resolvedUsers`
    case resolveNames(AppScope, [UserID], limit: Int)

    /// Campaigns, schedules and labels.
    case campaigns(AppScope, CampaignStatement)
}

/// How a receipt names its message.
package enum MessageReference: Sendable, Hashable {
    case number(String)
    case id(MessageID)
}

/// What a statement answered.
package enum StoreAnswer: Sendable, Hashable {
    case registered(Registered)
    case count(Int)
    case identity(IdentityFacts?)
    case sender(SenderFacts?)
    case permitted(Bool, platform: Platform?)
    case groupPut(isNew: Bool?)
    case groups([GroupFacts])
    case membersChanged(MemberCounts?)
    case receipt(ReceiptReply)
    indirect case delivery(DeliverySnapshot?, platform: Platform?)
    case inbox([InboxEntry])
    case app(AppFacts?)
    case resolved([ResolvedTarget?])
    case resolvedUsers([UserTarget])
    case accepted(Acceptance)
    case media(bytes: [UInt8], contentType: String)
    case noMedia
    case reported(ReceiptReport)
    case preferences(DevicePreferences?)
    case numbers(MessageNumbers)
    case numbered([Vendor: String])
    case assigned(AssignedUser?)
    case standing(IdentityStanding?)
    case identities([ListedIdentity])
    case badge(Int?)
    case acknowledged(ReceiptReply, badge: Int)
    case groupCreated(GroupName?)
    case titledGroups([TitledGroup])
    case members([GroupMember]?)
    case recipients([RecipientTarget])
    case number(String?)
    indirect case report(MessageReport?)
    case profiles([StoredProfile?])
    case tokens(Set<DeviceToken>)
    case usersPut(isRepeat: Bool)
    case userAliases([UsersOwn<UserAlias>])
    case userTallies([UsersOwn<ActTally>])
    case userDevices([UsersOwn<UserDevice>])
    /// Of each user the latest first.
    case userMessages([UsersOwn<SentMessages>])
    case campaignPut(isNew: Bool?)
    case campaigns([Campaign])
    case schedules([Schedule])
    case series([SeriesDay])
}

/// What is known of one identity.
package struct IdentityFacts: Sendable, Hashable {
    package var identity: IdentityID
    package var device: DeviceID?
    package var state: IdentityState
    package var platform: Platform
    package var phone: String?

    package init(
        identity: IdentityID,
        device: DeviceID?,
        state: IdentityState,
        platform: Platform,
        phone: String? = nil
    ) {
        self.identity = identity
        self.device = device
        self.state = state
        self.platform = platform
        self.phone = phone
    }
}

/// A back end that sends.
package struct SenderFacts: Sendable, Hashable {
    package var id: SenderID
    /// Nil until it is enrolled.
    package var enrolmentKey: String?
    /// Whether the statement enrolled it.
    package var isNew: Bool
    package var callbackURL: String?

    package init(id: SenderID, enrolmentKey: String? = nil, isNew: Bool = false, callbackURL: String? = nil) {
        self.id = id
        self.enrolmentKey = enrolmentKey
        self.isNew = isNew
        self.callbackURL = callbackURL
    }
}

/// What a submission must know of its app.
package struct AppFacts: Sendable, Hashable {
    /// Whether any push credential is provisioned for any platform.
    package var hasCredential: Bool
    /// Active identities in the caller's dialect, maintained.
    package var identityCount: Int
    package var timing: AppTiming
    /// Dialects that identities of the app speak, or spoke.
    package var dialects: Set<Vendor>

    package init(
        hasCredential: Bool,
        identityCount: Int,
        timing: AppTiming = .none,
        dialects: Set<Vendor> = []
    ) {
        self.hasCredential = hasCredential
        self.identityCount = identityCount
        self.timing = timing
        self.dialects = dialects
    }
}

/// Who answers to an address.
package struct ResolvedTarget: Sendable, Hashable {
    package var identity: IdentityID
    package var device: DeviceID?
    /// Whether the device has a token that may be used now.
    package var isReachable: Bool
    package var clock: DeviceClock

    package init(identity: IdentityID, device: DeviceID?, isReachable: Bool, clock: DeviceClock = .unset) {
        self.identity = identity
        self.device = device
        self.isReachable = isReachable
        self.clock = clock
    }
}

/// One of a user's identities.
package struct UserTarget: Sendable, Hashable {
    package var user: UserID
    package var found: ResolvedTarget

    package init(user: UserID, found: ResolvedTarget) {
        self.user = user
        self.found = found
    }
}

/// One of a recipient's identities.
package struct RecipientTarget: Sendable, Hashable {
    /// Nil: nobody's.
    package var user: UserID?
    package var key: VendorDeviceKey
    package var found: ResolvedTarget

    package init(user: UserID?, key: VendorDeviceKey, found: ResolvedTarget) {
        self.user = user
        self.key = key
        self.found = found
    }
}

/// How many users a change brought into a group and took out of it.
package struct MemberCounts: Sendable, Hashable {
    package var added: Int
    package var removed: Int

    package init(added: Int, removed: Int) {
        self.added = added
        self.removed = removed
    }
}

/// How often a phone may be verified.
package struct VerificationLimits: Sendable, Hashable {
    package var validFor: Duration
    package var maximumTries: Int
    package var resendAfter: Duration
    package var perHour: Int

    package init(
        validFor: Duration = .seconds(180),
        maximumTries: Int = 5,
        resendAfter: Duration = .seconds(30),
        perHour: Int = 5
    ) {
        self.validFor = validFor
        self.maximumTries = maximumTries
        self.resendAfter = resendAfter
        self.perHour = perHour
    }
}
