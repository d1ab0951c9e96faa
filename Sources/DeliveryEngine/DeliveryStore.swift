package import FoundationEssentials
package import Model

/// What the delivery engine needs of a store.
///
/// What the implementer owes: one call is one transaction (`dueTenants` and `load` only read); the database's clock alone decides leases and due times; nothing is
/// open while the network is used; a call for one tenant touches that tenant's rows only.
package protocol DeliveryStore: Sendable {
    /// Who has due work in a lane. A hint without locks: a stale answer costs one empty claim.
    ///
    /// - Throws: `StoreError`.
    func dueTenants(in lane: Lane, limit: Int) async throws(StoreError) -> [TenantID]

    /// Leases up to `limit` due slices of one tenant to `node`; owner and epoch are committed when it returns.
    ///
    /// - Throws: `StoreError`.
    func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [SliceLease]

    /// Extends the leases that are still ours and says which those are.
    ///
    /// - Throws: `StoreError`.
    func renew(_ leases: [SliceLease], by node: NodeID, lease: Duration) async throws(StoreError) -> Set<SliceKey>

    /// The message and the facts of the targets not done yet. Nil when the message is gone. Where the app has a cap that holds for the lane, what
    /// each device was sent lately is counted too.
    ///
    /// - Throws: `StoreError`.
    func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork?

    /// Writes outcomes, each delivery once, with counters and events, the slice's bitmap and what becomes of the slice.
    ///
    /// - Throws: `StoreError`. Nothing is written then, except perhaps with code `.timedOut`: the call may be repeated as it is.
    func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult

    /// The next page of an audience as new slices, the cursor moved on, in one transaction. New slices are `ready` and due with the message, or,
    /// where zones and hours matter, each group of targets at its own time (`TimingRules.slot`); a page of everyone is then ten times as long.
    ///
    /// - Throws: `StoreError`.
    func expand(_ lease: SliceLease, by node: NodeID, pageSize: Int) async throws(StoreError) -> ExpansionResult

    /// Applies the transport's verdicts on tokens; a dead one only when the token was not registered again since.
    ///
    /// - Throws: `StoreError`.
    func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError)

    /// Notes that a credential was refused by the peer, for `doctor` and `/readyz`, or (nil) that it works.
    ///
    /// - Throws: `StoreError`.
    func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError)

    /// Makes due at once what was put back because of this credential: it was provisioned anew, or works again.
    ///
    /// - Throws: `StoreError`.
    func resume(_ key: CredentialKey) async throws(StoreError)

    /// Draws pushes from budgets that all nodes share; one count per draw, perhaps 0. By the database's clock.
    ///
    /// - Throws: `StoreError`.
    func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32]

    /// Gives leases back at once, unfinished: another node may take them.
    ///
    /// - Throws: `StoreError`.
    func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError)

    /// Says that this node lives and reads the database's clock.
    ///
    /// - Throws: `StoreError`.
    func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp

    /// Removes this node's row on an orderly end.
    ///
    /// - Throws: `StoreError`.
    func leave(_ node: NodeID) async throws(StoreError)
}

/// All that is needed to send one slice.
package struct SliceWork: Sendable {
    /// The message's app: whose counters its outcomes belong to.
    package var app: AppID
    package var notification: Notification
    package var state: MessageState
    package var lane: Lane
    package var fallback: JSON?
    /// One entry per target that is not done, by its index in the slice. A target whose identity is gone has none.
    package var targets: [Int: TargetFacts]
    /// How each platform of the app is reached.
    package var routes: [Platform: PlatformRoute]
    /// The settings of each dialect that has a binding on the app.
    package var settings: [Vendor: BindingSettings]
    /// Targets of this message that another slice already sent to the same device.
    package var duplicates: Set<Int>
    /// As provisioned.
    package var timing: AppTiming
    /// The schedule in each device's own zone.
    package var localDue: LocalTime?
    /// Targets whose device got as many messages as the app's cap allows; empty where no cap holds.
    package var capped: Set<Int>

    package init(
        app: AppID,
        notification: Notification,
        state: MessageState,
        lane: Lane,
        fallback: JSON? = nil,
        targets: [Int: TargetFacts],
        routes: [Platform: PlatformRoute],
        settings: [Vendor: BindingSettings],
        duplicates: Set<Int> = [],
        timing: AppTiming = .none,
        localDue: LocalTime? = nil,
        capped: Set<Int> = []
    ) {
        self.app = app
        self.notification = notification
        self.state = state
        self.lane = lane
        self.fallback = fallback
        self.targets = targets
        self.routes = routes
        self.settings = settings
        self.duplicates = duplicates
        self.timing = timing
        self.localDue = localDue
        self.capped = capped
    }
}

/// Topic and credentials of an app on one platform.
package struct PlatformRoute: Sendable, Hashable {
    /// Bundle id; empty where the platform has none.
    package var topic: String
    package var credentials: [PushEnvironment: CredentialID]

    package init(topic: String, credentials: [PushEnvironment: CredentialID]) {
        self.topic = topic
        self.credentials = credentials
    }
}

/// One delivery's row.
package struct DeliveryResult: Sendable, Hashable {
    /// The target's index in its slice.
    package var index: Int
    package var target: TargetID
    package var identity: IdentityID?
    /// Of the identity.
    package var dialect: Vendor?
    package var device: DeviceID?
    package var user: UserID?
    package var address: Address?
    /// `sent`, `failed`, `suppressed`, `expired` or `canceled`.
    package var state: DeliveryState
    package var reason: String?
    package var attempt: DeliveryAttempt
    package var at: Timestamp

    package init(
        index: Int,
        target: TargetID,
        identity: IdentityID? = nil,
        dialect: Vendor? = nil,
        device: DeviceID? = nil,
        user: UserID? = nil,
        address: Address? = nil,
        state: DeliveryState,
        reason: String? = nil,
        attempt: DeliveryAttempt = DeliveryAttempt(),
        at: Timestamp
    ) {
        self.index = index
        self.target = target
        self.identity = identity
        self.dialect = dialect
        self.device = device
        self.user = user
        self.address = address
        self.state = state
        self.reason = reason
        self.attempt = attempt
        self.at = at
    }
}

/// The last attempt to send a delivery; without one all of it is empty.
package struct DeliveryAttempt: Sendable, Hashable {
    /// How many attempts there were.
    package var count: Int16
    /// `apns`; nil when no transport was asked.
    package var transport: String?
    package var transportID: UUID?
    /// False: the peer may have received it, but did not answer.
    package var isCertain: Bool
    package var payloadBytes: Int32
    /// Names of the fields that were cut to fit, separated by commas; nil: none.
    package var reduced: String?

    package init(
        count: Int16 = 0,
        transport: String? = nil,
        transportID: UUID? = nil,
        isCertain: Bool = true,
        payloadBytes: Int32 = 0,
        reduced: String? = nil
    ) {
        self.count = count
        self.transport = transport
        self.transportID = transportID
        self.isCertain = isCertain
        self.payloadBytes = payloadBytes
        self.reduced = reduced
    }
}

/// A flush of one slice: at least every 250 ms while it is being sent, and once at its end.
package struct SliceProgress: Sendable {
    package enum Disposition: Sendable, Hashable {
        /// Still being sent by this node.
        case goOn
        /// Every target is done.
        case finished
        /// Targets are left; look again after this long, or as soon as the credential is mended that they wait for.
        /// `attempts` counts up when `countsAttempt`.
        case again(after: Duration, heldBy: CredentialID? = nil)
        /// The same, and the message's other slices that are due wait as long: there is no room for them either.
        case crowded(for: Duration)
        /// Nothing more is tried until somebody asks for it, or the message expires. The reason is for people.
        case dead(reason: String)

        /// Its leases ended again and again without a word of their owner.
        package static let lapsed = Disposition.dead(reason: "leasesLapsed")
    }

    /// With its bitmap as it is after this flush.
    package var lease: SliceLease
    package var app: AppID
    package var vendor: Vendor
    /// Nothing twice: an index appears in one flush only, unless a flush is repeated because it is not known whether it was written.
    package var results: [DeliveryResult]
    package var disposition: Disposition
    /// Whether `again` uses up one of the slice's attempts. False while nobody processed anything: a stopped credential must not
    /// make deliveries give up before their expiry.
    package var countsAttempt: Bool

    package init(
        lease: SliceLease,
        app: AppID,
        vendor: Vendor,
        results: [DeliveryResult],
        disposition: Disposition,
        countsAttempt: Bool = true
    ) {
        self.lease = lease
        self.app = app
        self.vendor = vendor
        self.results = results
        self.disposition = disposition
        self.countsAttempt = countsAttempt
    }
}

/// What came of a flush.
package enum RecordResult: Sendable, Hashable {
    /// How many rows were new.
    case recorded(Int)
    /// Somebody else holds the slice now; nothing was written. Stop sending it.
    case fenced
}

/// What came of a page of an audience.
package enum ExpansionResult: Sendable, Hashable {
    /// So many targets more, or none among those looked at; about where it goes on, which the store itself remembers.
    case page(Int, after: IdentityID)
    /// Nobody is left; the message's recipients are counted and it is `sending`.
    case finished(recipients: Int)
    /// Somebody else holds it now, or it was canceled.
    case fenced
}

/// What a transport said of a token.
package enum TokenVerdict: Sendable, Hashable {
    /// Dead unless registered again after `since`; nil: no time was given.
    case dead(DeviceID, DeviceToken, since: Timestamp?)
    /// Set aside.
    case doubtful(DeviceID, DeviceToken, reason: String)
    /// Alive, and of another environment than was thought.
    case moved(DeviceID, DeviceToken, to: PushEnvironment)
}
