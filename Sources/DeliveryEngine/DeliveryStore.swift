package import FoundationEssentials
package import Model

/// The store operations that the delivery engine needs.
///
/// Requirements on an implementation: one call is one transaction (`dueTenants` and `load` only read); the database's clock alone decides leases and
/// due times; no transaction is open during network I/O; a call for one tenant touches only that tenant's rows.
package protocol DeliveryStore: Sendable {
    /// The tenants that have due work in a lane. A hint without locks: a stale answer costs one empty claim. Slices whose lease has expired are only
    /// found `withLapsed`, which costs more.
    ///
    /// - Throws: `StoreError`.
    func dueTenants(in lane: Lane, limit: Int, withLapsed: Bool) async throws(StoreError) -> [TenantID]

    /// Leases up to `limit` due slices of one tenant to `node`, and `withLapsed` those whose lease has expired after them. Owner and epoch are committed
    /// when it returns.
    ///
    /// - Throws: `StoreError`.
    func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration,
        withLapsed: Bool
    ) async throws(StoreError) -> [SliceLease]

    /// Extends the leases that this node still holds and returns their keys.
    ///
    /// - Throws: `StoreError`.
    func renew(_ leases: [SliceLease], by node: NodeID, lease: Duration) async throws(StoreError) -> Set<SliceKey>

    /// The message and the facts of the targets that are not done yet. Nil when the message no longer exists. If the app has a frequency cap that
    /// applies to the lane, the recent messages of each device are counted too.
    ///
    /// - Throws: `StoreError`.
    func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork?

    /// Writes outcomes (each delivery once, with counters and events), the slice's bitmap, the disposition of the slice, and the slices that leave it
    /// (`SliceProgress.retries`). In the slice that they leave, their targets are done afterwards.
    ///
    /// - Throws: `StoreError`. Nothing is written then, except possibly with code `.timedOut`. The call may be repeated unchanged.
    func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult

    /// Ends a message without open slices. Called after slices were finished without it (`SliceProgress.settles`).
    ///
    /// - Throws: `StoreError`. The call may be repeated.
    func settle(_ message: MessageID, tenant: TenantID) async throws(StoreError)

    /// Creates the next page of an audience as new slices and advances the cursor, in one transaction. New slices are `ready` and due with the message.
    /// If time zones and hours matter, each group of targets is due at its own time (`TimingRules.slot`); a page of everyone is then ten times as long.
    ///
    /// - Parameters:
    ///   - lease: of the expansion.
    ///   - node: its owner.
    ///   - pageSize: the number of targets, or of candidates where few match.
    ///   - dialects: those that are preferred, in this order, to the identity that was seen last, for a message that reaches every dialect. Nil: those of the
    ///     rules that were in force at the first page.
    /// - Returns: the result of the page.
    /// - Throws: `StoreError`.
    func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int,
        preferring dialects: [Vendor]?
    ) async throws(StoreError) -> ExpansionResult

    /// The rules by which the slice is routed: those that were in force when it was first read under a lease. A slice that leaves it inherits them, and one
    /// that is given back without a try gets those of its next lease.
    ///
    /// - Throws: `StoreError`.
    func routing(of lease: SliceLease, by node: NodeID) async throws(StoreError) -> StoredRouting

    /// The tags out of `names` that identities have, by the place of the identity.
    ///
    /// - Throws: `StoreError`.
    func tags(
        _ names: Set<String>,
        of identities: [Int: IdentityID],
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Set<String>]

    /// The places of those users whom a call of the message has, and whether it is answered.
    ///
    /// - Throws: `StoreError`.
    func called(
        _ users: [CalledUser],
        by message: MessageID,
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Bool]

    /// The facts about earlier messages, whose text the slice's message repeats, for these targets. Only for duplicates (`SliceWork.isDuplicate`).
    ///
    /// - Throws: `StoreError`.
    func earlier(
        than lease: SliceLease,
        for targets: [Int: TargetFacts],
        by node: NodeID
    ) async throws(StoreError) -> EarlierFinding

    /// The bytes of an image; nil: they are not known.
    ///
    /// - Throws: `StoreError`.
    func image(_ media: MediaReference, tenant: TenantID) async throws(StoreError) -> InlineImage?

    /// Records a call to an upstream before its first byte leaves, under the slice's own epoch. It is committed when this returns `begun`.
    ///
    /// - Throws: `StoreError`. The call may be repeated unchanged.
    func begin(_ order: UpstreamOrder, of lease: SliceLease, by node: NodeID) async throws(StoreError) -> UpstreamStart

    /// Applies the transport's verdicts on tokens. A dead token is only marked if it has not been registered again since.
    ///
    /// - Throws: `StoreError`.
    func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError)

    /// Records that the peer refused a credential, for `doctor` and `/readyz`, or (nil) that the credential works.
    ///
    /// - Throws: `StoreError`.
    func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError)

    /// Makes slices due at once that were put back because of this credential, after it was replaced or works again.
    ///
    /// - Throws: `StoreError`.
    func resume(_ key: CredentialKey) async throws(StoreError)

    /// Draws pushes from budgets that all nodes share. Returns one count per draw, possibly 0. Uses the database's clock.
    ///
    /// - Throws: `StoreError`.
    func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32]

    /// Gives unfinished leases back at once, so that another node can claim them.
    ///
    /// - Throws: `StoreError`.
    func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError)

    /// Records that this node is alive, and reads the database's clock.
    ///
    /// - Throws: `StoreError`.
    func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp

    /// Removes this node's row on an orderly end.
    ///
    /// - Throws: `StoreError`.
    func leave(_ node: NodeID) async throws(StoreError)
}

/// All data needed to send one slice.
package struct SliceWork: Sendable {
    /// The message's app; its counters include the outcomes.
    package var app: AppID
    package var notification: Notification
    package var state: MessageState
    package var lane: Lane
    package var fallback: JSON?
    /// One entry per target that is not done, by its index in the slice. A target whose identity no longer exists has no entry.
    package var targets: [Int: TargetFacts]
    /// The route of each platform of the app.
    package var routes: [Platform: PlatformRoute]
    /// The settings of each vendor that has a binding to the app.
    package var settings: [Vendor: BindingSettings]
    /// Targets whose device already received this message through another slice.
    package var duplicates: Set<Int>
    /// The app's timing rules as provisioned.
    package var timing: AppTiming
    /// The due time in each device's own time zone.
    package var localDue: LocalTime?
    /// Targets whose device has received as many messages as the app's cap allows; empty when no cap applies.
    package var capped: Set<Int>
    /// The message's place in a sampled trace. Nil: its pushes have no spans.
    package var trace: TraceContext?
    /// Whether the app has rules, or the slice keeps those of an earlier version. `routing` is then read in a second step.
    package var isRouted = false
    package var routing = SliceRouting.direct
    /// Whether a message with the same text came before through another entry point. `earlier` is then read in a further step.
    package var isDuplicate = false
    package var earlier: EarlierMessages?
    /// The image of the message, for sends through upstreams.
    package var image: InlineImage?

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

/// The topic and credentials of an app on one platform.
package struct PlatformRoute: Sendable, Hashable {
    /// The bundle id; empty where the platform has no topics.
    package var topic: String
    package var credentials: [PushEnvironment: CredentialID]

    package init(topic: String, credentials: [PushEnvironment: CredentialID]) {
        self.topic = topic
        self.credentials = credentials
    }
}

/// The row of one delivery.
package struct DeliveryResult: Sendable, Hashable {
    /// The target's index in its slice.
    package var index: Int
    package var target: TargetID
    package var identity: IdentityID?
    /// The dialect of the device, which must display and report the message; nil: none does.
    package var dialect: Vendor?
    package var device: DeviceID?
    package var user: UserID?
    package var address: Address?
    /// `sent`, `failed`, `suppressed`, `expired` or `canceled`.
    package var state: DeliveryState
    package var reason: String?
    package var attempt: DeliveryAttempt
    package var at: Timestamp
    /// The number of what the device's SDK reported; nil: nothing.
    package var client: Int64?
    /// The hour of the week in the device's time zone; nil: the zone is not known.
    package var localHour: WeekHour?

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
    /// `apns`; nil when no transport was used.
    package var transport: String?
    package var transportID: UUID?
    /// False: the peer may have received it, but did not answer.
    package var isCertain: Bool
    package var payloadBytes: Int32
    /// Names of the fields that were cut to fit, and the paths that it left (`TriedPath`), separated by commas; nil: none.
    package var reduced: String?
    /// Milliseconds from the hand-over to the answer of the transport; nil: it did not answer.
    package var latency: Int32?

    package init(
        count: Int16 = 0,
        transport: String? = nil,
        transportID: UUID? = nil,
        isCertain: Bool = true,
        payloadBytes: Int32 = 0,
        reduced: String? = nil,
        latency: Int32? = nil
    ) {
        self.count = count
        self.transport = transport
        self.transportID = transportID
        self.isCertain = isCertain
        self.payloadBytes = payloadBytes
        self.reduced = reduced
        self.latency = latency
    }
}

/// A flush of one slice: at least every 250 ms while the slice is being sent, and once at its end.
package struct SliceProgress: Sendable {
    package enum Disposition: Sendable, Hashable {
        /// This node is still sending the slice.
        case goOn
        /// Every target is done.
        case finished
        /// Targets are left; they are tried again after this wait, or as soon as the credential works that they wait for. `attempts` is incremented if
        /// `countsAttempt` is true.
        case again(after: Duration, heldBy: CredentialID? = nil)
        /// As `again`. The message's other due slices wait as long, because the credential has no capacity for them either.
        case crowded(for: Duration)
        /// Nothing more is tried until a person requests it or the message expires. The reason is written for people.
        case dead(reason: String)

        /// The leases of the slice expired repeatedly without being given back.
        package static let lapsed = Disposition.dead(reason: "leasesLapsed")
        /// The database answered every attempt to read the work with an error.
        package static let unreadable = Disposition.dead(reason: "loadFailed")
        /// The database answered every attempt to expand the audience with an error.
        package static let unexpandable = Disposition.dead(reason: "expansionFailed")
    }

    /// With the bitmap as it is after this flush.
    package var lease: SliceLease
    package var app: AppID
    package var vendor: Vendor
    /// No index appears in two flushes, unless a flush is repeated because it is unknown whether it was written.
    package var results: [DeliveryResult]
    package var disposition: Disposition
    /// Whether `again` uses up one of the slice's attempts. False if no push was processed: a stopped credential must not make deliveries fail before
    /// their expiry.
    package var countsAttempt: Bool
    /// Only with `finished`: whether the flush also ends the message if no other slice is open, which locks the message until the commit. False if the
    /// node holds other slices of the message: it calls `DeliveryStore.settle` after the last one.
    package var settles: Bool
    /// Targets that do not stay in the slice; only with `again`.
    package var retries: [RetrySlice]
    /// Only with `again`: whether the targets were outside their hours, so that they are due when the wait ends.
    package var movesDue: Bool
    /// Calls to upstreams that have ended. Their outcomes are in `results`, or their targets are put back.
    package var calls: [UpstreamCallEnd] = []
    /// Only with `again`: whether nothing of the slice was tried, so that its next lease gets the rules of then.
    package var returnsRouting = false

    package init(
        lease: SliceLease,
        app: AppID,
        vendor: Vendor,
        results: [DeliveryResult],
        disposition: Disposition,
        countsAttempt: Bool = true,
        settles: Bool = true,
        retries: [RetrySlice] = [],
        movesDue: Bool = false
    ) {
        self.lease = lease
        self.app = app
        self.vendor = vendor
        self.results = results
        self.disposition = disposition
        self.countsAttempt = countsAttempt
        self.settles = settles
        self.retries = retries
        self.movesDue = movesDue
    }
}

/// Targets that leave their slice for a slice of their own, because they wait for something else than the rest, or longer.
package struct RetrySlice: Sendable, Hashable {
    /// Their indexes in the slice that they leave.
    package var indexes: [Int]
    /// `again` or `dead`.
    package var disposition: SliceProgress.Disposition
    /// Whether the wait uses up one attempt of these targets.
    package var countsAttempt: Bool
    /// Whether these targets were outside their hours, so that they are due when the wait ends.
    package var movesDue: Bool

    package init(
        indexes: [Int],
        disposition: SliceProgress.Disposition,
        countsAttempt: Bool,
        movesDue: Bool = false
    ) {
        self.indexes = indexes
        self.disposition = disposition
        self.countsAttempt = countsAttempt
        self.movesDue = movesDue
    }
}

extension SliceProgress {
    /// The credentials that this slice, or a slice that leaves it, waits for.
    package var holders: Set<CredentialID> {
        Set(
            ([disposition] + retries.map(\.disposition)).compactMap { disposition in
                if case .again(_, let credential) = disposition { credential } else { nil }
            }
        )
    }
}

/// The result of a flush.
package enum RecordResult: Sendable, Hashable {
    /// The number of rows that were new.
    case recorded(Int)
    /// Another node holds the slice; nothing was written. Sending must stop.
    case fenced
}

/// The result of creating one page of an audience.
package enum ExpansionResult: Sendable, Hashable {
    /// The number of new targets, which may be 0, and the approximate position of the cursor. The store itself keeps the exact cursor.
    case page(Int, after: IdentityID)
    /// The audience is complete: the message's recipients are counted and the message is `sending`.
    case finished(recipients: Int)
    /// Another node holds the slice, or the message was canceled.
    case fenced
}

/// A transport's verdict on a token.
package enum TokenVerdict: Sendable, Hashable {
    /// The token is dead unless it was registered again after `since`; nil: the peer gave no time.
    case dead(DeviceID, DeviceToken, reason: String? = nil, since: Timestamp?)
    /// The token is to be quarantined.
    case doubtful(DeviceID, DeviceToken, reason: String)
    /// The token is valid, but in another environment than recorded.
    case moved(DeviceID, DeviceToken, to: PushEnvironment)
}
